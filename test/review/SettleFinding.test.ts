/** Outcomes of findings at the end of generated changes, in memory; test/engine/SettleChange.test.ts has the same with real version control. */
import { describe, expect, it } from "vitest"
import { toEvidenceFile } from "../../src/review/EvidenceLines.ts"
import { findRenamed, settleFinding } from "../../src/review/SettleFinding.ts"
import type { UnsettledFinding } from "../../src/review/SettleFinding.ts"
import { takeEvidence } from "../../src/review/TakeEvidence.ts"
import { codeKey } from "../../src/review/CodeKey.ts"
import { settleWork } from "../../src/engine/work/SettleWork.ts"
import { makeHistory } from "../engine/GeneratedHistories.ts"

const histories = 300

it("of generated histories are those that happened", () => {
  const wrong: Array<string> = []
  for (let seed = 1; seed <= histories; seed++) {
    const { end, findings, reviewed, truth } = makeHistory(seed)
    const files = findings.map((finding) => ({
      own: end[finding.path] ?? null,
      reviewed: reviewed[finding.path] ?? null,
      findings: [{ ...finding, side: finding.anchor?.side ?? "new", code: finding.code, evidence: finding.evidence }]
    }))
    const own = new Set(findings.map(({ path }) => path))
    const others = Object.entries(end)
      .filter(([path, text]) => !own.has(path) && reviewed[path] !== text)
      .map(([path, text]) => ({ isAdded: reviewed[path] === undefined, text }))
    for (const [at, [state]] of settleWork.settleFindings(files, others).entries())
      if (state !== truth[at]?.state) wrong.push(`${seed}: ${truth[at]?.event} is ${state}`)
  }
  expect(wrong).toEqual([])
})

const source = (...lines: ReadonlyArray<string>) => toEvidenceFile(["function pay(input) {", ...lines, "}"].join("\n"))
const faulty = "  const total = items[index + 1].price * rate"

const at = (text: ReturnType<typeof source>, line: number, outcome: UnsettledFinding["outcome"] = "open") => {
  const anchor = { path: "a.ts", side: "new", line } as const
  const quote = text.lines[line - 1] ?? ""
  return {
    outcome,
    side: "new",
    evidence: takeEvidence(anchor, text),
    code: codeKey({ quote }, { code: quote, anchor }, text.text)
  } as const
}

describe("a finding", () => {
  const before = source("  const rate = find(input)", faulty, "  return total")
  it.each([
    ["that is unread at the end keeps its state", undefined, undefined, "open"],
    ["of a deleted file is fixed", null, before, "fixed"],
    ["whose code is there is open", before, before, "open"],
    ["whose code is there in another layout is open", source(faulty.replace(" * ", "\n    * ")), before, "open"],
    ["whose code is gone is fixed", source("  const rate = find(input)", "  return total"), before, "fixed"]
  ] as const)("%s", (_, own, reviewed, state) => {
    expect(settleFinding(at(before, 3), { own, reviewed, others: [] })).toBe(state)
  })

  it("that people dismissed, or that was withdrawn, stays so", () => {
    for (const outcome of ["dismissed", "withdrawn"] as const)
      expect(settleFinding(at(before, 3, outcome), { own: null, reviewed: before, others: [] })).toBe(outcome)
  })

  it("without code keeps its state while its file exists", () => {
    const finding = { ...at(before, 3), code: undefined, evidence: undefined }
    expect(settleFinding(finding, { own: before, reviewed: before, others: [] })).toBe("open")
    expect(settleFinding(finding, { own: null, reviewed: before, others: [] })).toBe("fixed")
  })

  it("is not moved by a line that other code has too", () => {
    const other = source("  const items = load()", faulty, "  return items")
    const own = source("  return 0")
    expect(settleFinding(at(before, 3), { own, reviewed: before, others: [other] })).toBe("moved_away")
    const elsewhere = toEvidenceFile(["function other() {", "  const items = load()", faulty, "  go()", "}"].join("\n"))
    expect(settleFinding(at(before, 3), { own, reviewed: before, others: [elsewhere] })).toBe("fixed")
  })
})

it("a renamed file is the added one with most of its lines, at least half", () => {
  const file = toEvidenceFile("one\ntwo\nthree\nfour")
  const [half, most, few] = ["one\ntwo\n5\n6", "one\ntwo\nthree\n6", "one\n2\n3\n4"].map(toEvidenceFile)
  if (half === undefined || most === undefined || few === undefined) throw new Error("three files")
  expect(findRenamed(file, [few, half, most])).toBe(2)
  expect(findRenamed(file, [few, half])).toBe(1)
  expect(findRenamed(file, [few])).toBe(-1)
})
