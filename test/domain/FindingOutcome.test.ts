import { expect, it } from "vitest"
import { decideOutcomes } from "../../src/domain/FindingOutcome.ts"
import type { FindingState } from "../../src/domain/FindingState.ts"
import type { OutcomeRecord, SettledReview } from "../../src/domain/FindingOutcome.ts"
import type { Reaction } from "../../src/domain/Publication.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"

const fp = "f".repeat(32)
const finding = (fingerprint = fp) => ({
  fingerprint,
  problem: { file: "a.ts", severity: "high" as const, category: "bug", message: "Off by one" },
  anchor: { path: "a.ts", side: "new" as const, line: 3 }
})
const before = (outcome: FindingState, more: Partial<OutcomeRecord> = {}): OutcomeRecord => ({
  fingerprint: fp,
  category: "bug",
  severity: "high",
  path: "a.ts",
  title: "Off by one",
  anchor: finding().anchor,
  head: "one",
  outcome,
  replied: false,
  ...more
})
const coverage = { reviewed: ["a.ts"], skipped: [], lines: 3 }
const reaction = (more: Partial<Reaction> = {}): Reaction => ({ fp, dismissed: false, replied: false, ...more })
const review = (
  present: boolean,
  more: Partial<SettledReview["analysis"]> = {},
  rest: Partial<Omit<SettledReview, "analysis">> = {}
): SettledReview => ({
  head: "two",
  analysis: { findings: present ? [finding()] : [], coverage, ...more },
  maxProblems: 50,
  reactions: undefined,
  ...rest
})
const dismissedNow = { reactions: [reaction({ dismissed: true })] }
const unread = { coverage: { ...coverage, reviewed: [], skipped: [{ path: "a.ts", reason: "budget" as const }] } }

it.each<{
  readonly name: string
  readonly from?: FindingState
  readonly now: SettledReview
  readonly to: FindingState
}>([
  { name: "new", now: review(true), to: "open" },
  { name: "new, and dismissed in another run of the service", now: review(true, {}, dismissedNow), to: "dismissed" },
  { name: "still found", from: "open", now: review(true), to: "open" },
  { name: "still found, and dismissed", from: "open", now: review(true, {}, dismissedNow), to: "dismissed" },
  { name: "dismissed, and its comments were not read", from: "dismissed", now: review(true), to: "dismissed" },
  {
    name: "dismissed, and the dismissal was taken back",
    from: "dismissed",
    now: review(true, {}, { reactions: [reaction()] }),
    to: "open"
  },
  { name: "gone with a later commit", from: "open", now: review(false), to: "fixed" },
  {
    name: "gone because the change no longer contains the file",
    from: "open",
    now: review(false, { coverage: { ...coverage, reviewed: ["b.ts"] } }),
    to: "fixed"
  },
  { name: "gone with a later commit, and dismissed", from: "open", now: review(false, {}, dismissedNow), to: "fixed" },
  { name: "gone on the same head", from: "open", now: review(false, {}, { head: "one" }), to: "open" },
  {
    name: "gone on the same head, and dismissed",
    from: "open",
    now: review(false, {}, { head: "one", ...dismissedNow }),
    to: "dismissed"
  },
  { name: "gone from a file that was not read", from: "open", now: review(false, unread), to: "open" },
  {
    name: "gone from a file that was not read again because its patch is unchanged",
    from: "open",
    now: review(false, { coverage: { ...coverage, skipped: [{ path: "a.ts", reason: "unchanged" }] } }),
    to: "open"
  },
  {
    name: "gone from a review that the model skipped",
    from: "open",
    now: review(false, { skipped: verbatimReason("docs") }),
    to: "open"
  },
  {
    name: "gone because a later review refuted it",
    from: "open",
    now: review(false, { refuted: [{ finding: finding(), reason: "no", model: "m" }] }),
    to: "open"
  },
  {
    name: "gone from a review at its limit of problems",
    from: "open",
    now: review(false, { findings: [finding("0".repeat(32))] }, { maxProblems: 1 }),
    to: "open"
  },
  {
    name: "gone from a review whose limit of problems is unknown",
    from: "open",
    now: review(false, {}, { maxProblems: undefined }),
    to: "open"
  },
  {
    name: "gone from a review that does not name all files",
    from: "open",
    now: review(false, { coverage: { ...coverage, unnamed: { reviewed: 1, skipped: {}, unread: 0 } } }),
    to: "open"
  },
  { name: "fixed, and found again", from: "fixed", now: review(true), to: "open" },
  { name: "fixed, and still gone", from: "fixed", now: review(false, unread), to: "fixed" },
  { name: "dismissed, and gone", from: "dismissed", now: review(false), to: "dismissed" }
])("a finding that is $name is $to", ({ from, now, to }) => {
  const records = from === undefined ? [] : [before(from)]
  const written = decideOutcomes(records, now).find(({ fingerprint }) => fingerprint === fp)
  expect((written ?? records[0])?.outcome).toBe(to)
})

it("writes nothing for a finding that did not change", () => {
  expect(decideOutcomes([before("open", { head: "two" })], review(true))).toEqual([])
  expect(decideOutcomes([before("fixed")], review(false))).toEqual([])
})

it("remembers who dismissed it, while it is dismissed", () => {
  const by = (value: Partial<Reaction>) => ({ reactions: [reaction({ dismissed: true, ...value })] })
  const [dismissed] = decideOutcomes([before("open")], review(true, {}, by({ by: "maintainer" })))
  expect(dismissed).toMatchObject({ outcome: "dismissed", dismissedBy: "maintainer" })
  const notRead = dismissed === undefined ? [] : decideOutcomes([dismissed], review(true, {}, { head: "three" }))
  expect(notRead).toMatchObject([{ outcome: "dismissed", dismissedBy: "maintainer" }])
  const [withdrawn] = decideOutcomes(notRead, review(true, {}, by({ withdrawn: true })))
  expect(withdrawn).toMatchObject({ outcome: "withdrawn", dismissedBy: undefined })
  const [open] = decideOutcomes(notRead, review(true, {}, { reactions: [reaction()] }))
  expect(open).toMatchObject({ outcome: "open", dismissedBy: undefined })
})

it("has the lines of the newest head on which it was present", () => {
  const moved = { ...finding(), code: "+4.1.a", anchor: { path: "b.ts", side: "new" as const, line: 9 } }
  const [written] = decideOutcomes([before("open")], review(true, { findings: [moved] }))
  expect(written).toMatchObject({ path: "b.ts", code: "+4.1.a", anchor: { path: "b.ts", line: 9 }, head: "two" })
})

it("remembers a reply", () => {
  const replied = decideOutcomes([before("open")], review(true, {}, { reactions: [reaction({ replied: true })] }))
  expect(replied).toEqual([before("open", { head: "two", replied: true })])
  expect(decideOutcomes(replied, review(false, {}, { head: "three" }))).toEqual([
    before("fixed", { head: "two", replied: true })
  ])
})

it("records a fingerprint once, and bounds its texts", () => {
  const long = {
    ...finding(),
    problem: { ...finding().problem, category: `\u0000${"c".repeat(500)}` },
    anchor: { ...finding().anchor, path: "p".repeat(5000) }
  }
  const written = decideOutcomes([], review(true, { findings: [long, long] }))
  expect(written.map(({ category, path }) => [category.length, path.length])).toEqual([[100, 1024]])
})
