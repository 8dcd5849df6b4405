/** Findings of folded kinds in the reviews of a change: what is shown, what stays folded, and the notices of the review. */
import { describe, expect, it } from "vitest"
import type { Acceptance } from "../../src/domain/Acceptance.ts"
import type { FoldedFinding } from "../../src/domain/Analysis.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { foldedNotices, foldFindings, splitFolded } from "../../src/review/FoldFindings.ts"
import { inEnglish } from "../../src/text/en.ts"

const acceptance: Acceptance = {
  floor: 0.2,
  groups: [
    { category: "testing", severity: "low", model: "fake/model", judged: 40, accepted: 3, share: 0.125, isFolded: true }
  ],
  wordings: [{ category: "correctness", files: "1 TypeScript", title: "Missing null check", dismissed: 3 }],
  examples: []
}
const finding = (fingerprint: string, over: Partial<Finding["problem"]> = {}): Finding => ({
  fingerprint: fingerprint.padEnd(32, "f"),
  problem: {
    file: "src/a.ts",
    severity: "low",
    category: "testing",
    title: `Test of ${fingerprint}`,
    message: "m",
    ...over
  }
})
const input = { acceptance, model: "fake/model", published: [] }
const names = (findings: ReadonlyArray<Finding>) => findings.map(({ fingerprint }) => fingerprint[0])
const folded = (findings: ReadonlyArray<Finding>, over: Partial<typeof input> = {}) => {
  const result = foldFindings(findings, { ...input, ...over })
  return { shown: names(result.shown), folded: names(result.folded.map((one) => one.finding)) }
}

describe("a finding of a folded kind", () => {
  const mixed = [
    finding("a"),
    finding("b", { severity: "medium" }),
    finding("00"),
    finding("c", { severity: "critical" })
  ]

  it("is folded, unless it is a probe", () => {
    expect(folded(mixed)).toEqual({ shown: ["b", "0", "c"], folded: ["a"] })
    const { shown } = foldFindings(mixed, input)
    expect(shown.map(({ probe }) => probe)).toEqual([undefined, true, undefined])
  })

  it("is shown without acceptance", () => {
    expect(foldFindings(mixed, { ...input, acceptance: undefined })).toEqual({ shown: mixed, folded: [] })
  })

  it("stays published once it was, and a probe a probe", () => {
    expect(folded([finding("a")], { published: [finding("a")] } as never)).toEqual({ shown: ["a"], folded: [] })
    const carried: Finding = { ...finding("a"), round: { kind: "carried", since: 1 } }
    expect(folded([carried])).toEqual({ shown: ["a"], folded: [] })
    const probe: Finding = { ...finding("00"), probe: true }
    expect(foldFindings([finding("00")], { ...input, published: [probe] }).shown).toEqual([probe])
  })

  it("stays folded once it was, unless it became critical", () => {
    const why = { _tag: "FindingsProbed", count: 1 } as const
    const earlier: ReadonlyArray<FoldedFinding> = [
      { finding: { ...finding("a"), round: { kind: "new", since: 1 } }, why },
      { finding: finding("b"), why }
    ]
    const again = splitFolded(
      [finding("a", { message: "again" }), finding("b", { severity: "critical" }), finding("c")],
      earlier
    )
    expect(again).toEqual({
      folded: [{ finding: { ...finding("a", { message: "again" }), round: { kind: "new", since: 1 } }, why }],
      others: [finding("b", { severity: "critical" }), finding("c")]
    })
  })
})

it("the review names folded kinds and the reasons", () => {
  const { folded: some, shown } = foldFindings(
    [
      finding("a"),
      finding("b"),
      finding("00"),
      finding("c", { category: "bug", severity: "high", title: "Null check is missing" })
    ],
    input
  )
  expect(foldedNotices(some, shown).map(inEnglish)).toEqual([
    "2 problems are folded and do not count: people accepted 3 of the last 40 in category testing with severity low, an estimated 13 % (review.acceptance_floor: 20 %).",
    "1 problem is folded and does not count: maintainers dismissed 3 like “Missing null check” in category correctness.",
    "1 problem is shown to find out whether people accept its kind by now."
  ])
  expect(foldedNotices([], [])).toEqual([])
})
