/** Findings of kinds that people rarely accept, in the rounds of a change. */
import { expect, it } from "vitest"
import type { Acceptance } from "../../src/domain/Acceptance.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { decideVerdict } from "../../src/domain/Verdict.ts"
import { inEnglish } from "../../src/text/en.ts"
import { lines, listKinds, startRounds } from "./Rounds.ts"
import type { Reported } from "./Rounds.ts"

const acceptance: Acceptance = {
  floor: 0.2,
  groups: [
    { category: "security", severity: "medium", model: "fake/m", judged: 40, accepted: 0, share: 0.04, isFolded: true }
  ],
  wordings: [],
  examples: ["- taken up by the maintainers: bug (high) in src/a.ts: Retry without a limit."]
}
const report: ReadonlyArray<Reported> = [
  { text: "alpha3", category: "security" },
  { text: "alpha5", category: "security", severity: "critical" },
  { text: "alpha7", category: "correctness" }
]
const listFolded = ({ folded = [] }: Analysis) => folded.map(({ finding }) => finding.problem.title?.split(" ")[0])

it("they are folded, stay folded, and do not count", async () => {
  const change = startRounds({ "src/a.ts": ["", ""], "src/b.ts": ["", ""] })
  const one = await change.push({ "src/a.ts": lines("alpha") }, { acceptance, report, models: ["fake/m"] })
  expect(listFolded(one.analysis)).toEqual(["alpha3"])
  expect(listKinds(one.analysis).published).toEqual(["new alpha5", "new alpha7"])
  expect(one.analysis.notices.map(inEnglish).join()).toContain(
    "1 problem is folded and does not count: people accepted 0"
  )
  expect(one.briefs[0]?.prompt).toContain("Retry without a limit.")

  // A push to another file leaves them as they are; one to the same file does too, although the category is accepted by now.
  const two = await change.push({ "src/b.ts": lines("beta", 3) }, { acceptance, report, models: ["fake/m"] })
  expect(listFolded(two.analysis)).toEqual(["alpha3"])
  const three = await change.push(
    { "src/a.ts": lines("alpha").with(11, "const more = 1") },
    { report: [...report, { text: "alpha4", category: "security" }], models: ["fake/m"] }
  )
  expect(listFolded(three.analysis)).toEqual(["alpha3"])
  expect(listKinds(three.analysis)).toEqual({
    published: ["carried alpha5", "carried alpha7"],
    late: ["late alpha4 1"]
  })
})

it("a finding that was published stays published", async () => {
  const change = startRounds({ "src/a.ts": ["", ""] })
  const only = report.slice(0, 1)
  await change.push({ "src/a.ts": lines("alpha") }, { report: only, models: ["fake/m"] })
  const two = await change.push(
    { "src/a.ts": lines("alpha").with(11, "const more = 1") },
    { acceptance, report: only, models: ["fake/m"] }
  )
  expect(listKinds(two.analysis).published).toEqual(["carried alpha3"])
})

it("nothing but folded findings is a success", async () => {
  const change = startRounds({ "src/a.ts": ["", ""] })
  const given = { report: report.slice(0, 1), models: ["fake/m"] }
  const shown = await change.push({ "src/a.ts": lines("alpha") }, given)
  const verdict = (analysis: Analysis) => decideVerdict(analysis, { unread: "fail", status_fail_on: "medium" })
  expect(verdict(shown.analysis)).toBe("failure")
  const other = startRounds({ "src/a.ts": ["", ""] })
  const folded = await other.push({ "src/a.ts": lines("alpha") }, { ...given, acceptance })
  expect(verdict(folded.analysis)).toBe("success")
})
