/** Details of a verdict: the coverage with unread files first, and remarks for the listed findings without a comment. */
import { assert, describe, it } from "@effect/vitest"
import type { Analysis } from "../../../src/domain/Analysis.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import type { SummaryProblem } from "../../../src/domain/Publication.ts"
import { renderMarker } from "../../../src/outputs/Marker.ts"
import { statusDetails } from "../../../src/outputs/review/StatusDetails.ts"
import { publication } from "../../store/Fixtures.ts"

const finding = (fingerprint: string, more: Partial<Finding> = {}): Finding => ({
  fingerprint,
  problem: {
    file: "a.ts",
    line: 3,
    severity: "low",
    category: "bug",
    title: fingerprint,
    message: "Ask @dana, see #1"
  },
  ...more
})
const listed = (fp: string): SummaryProblem => ({ fp, file: "a.ts", severity: "low", name: fp, place: "a.ts" })

const analysis = (findings: ReadonlyArray<Finding>): Analysis => ({
  findings,
  summary: "",
  coverage: {
    reviewed: ["a.ts"],
    skipped: [
      { path: "generated.ts", reason: "generated" },
      { path: "big.ts", reason: "too_large", unread: true }
    ],
    lines: 4,
    changed: 9
  },
  models: [],
  usage: { requests: 1, inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  notices: []
})

const plan = (names: ReadonlyArray<string>, commented: ReadonlyArray<string>) => {
  const found = names.map(listed)
  const problems = { found, present: [], analysed: [], changed: [], complete: true }
  const op = OperationId.make("op")
  const comments = commented.map((fp) => ({
    path: "a.ts",
    side: "new" as const,
    line: 1,
    body: `Text\n${renderMarker({ op, fp })}`
  }))
  return [
    publication({ operation: { _tag: "Summary", head: "h", body: "", problems } }),
    publication({ operation: { _tag: "Review", head: "h", event: "COMMENT", body: "", comments } })
  ]
}

const pull = { kind: "pull_request" } as const

describe("statusDetails", () => {
  it("has a remark for each listed finding without a comment, and for no other", () => {
    const anchor = { path: "b.ts", side: "new", start: 5, line: 7 } as const
    const findings = [finding("commented"), finding("listed", { anchor }), finding("hidden"), finding("unanchored")]
    const { annotations } = statusDetails(
      { analysis: analysis(findings), plan: plan(["commented", "listed", "unanchored"], ["commented"]) },
      "en",
      pull
    )
    assert.deepStrictEqual(
      annotations.map(({ end, path, start, title }) => [title, path, start, end]),
      [
        ["listed", "b.ts", 5, 7],
        ["unanchored", "a.ts", 3, 3]
      ]
    )
    assert.notInclude(annotations[0]?.message, "@dana")
  })

  it("has a remark for each problem of a merge group that counts, of which nothing else is published", () => {
    const dismissed = { ...analysis([finding("open"), finding("dismissed")]), dismissed: ["dismissed"] }
    const { annotations } = statusDetails({ analysis: dismissed, plan: [] }, "en", { kind: "merge_group" })
    assert.deepStrictEqual(
      annotations.map(({ title }) => title),
      ["open"]
    )
  })

  it("has at most as many remarks as one request may have", () => {
    const names = Array.from({ length: 60 }, (_, at) => `finding-${at}`)
    const { annotations } = statusDetails(
      { analysis: analysis(names.map((name) => finding(name))), plan: plan(names, []) },
      "en",
      pull
    )
    assert.lengthOf(annotations, 50)
  })

  it("names the files with text that was not read first", () => {
    const { text } = statusDetails({ analysis: analysis([]), plan: [] }, "en", pull)
    assert.strictEqual(
      text,
      "Coverage: 1 file and 4 changed lines read, 2 skipped\n\n**Not read, or not in full**\n\n- `big.ts`: over the size limit\n- `generated.ts`: generated"
    )
  })
})
