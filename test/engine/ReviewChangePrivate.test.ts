/** Findings that only maintainers get, in the rounds of a change: no list and no text of an analysis has them. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { buildStatement } from "../../src/domain/BuildStatement.ts"
import { verdictsOn } from "../harness/FakeModel.ts"
import { calling } from "./Fixture.ts"
import type { Acceptance } from "../../src/domain/Acceptance.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { decideVerdict } from "../../src/domain/Verdict.ts"
import { inEnglish } from "../../src/text/en.ts"
import { lines, listKinds, startRounds } from "./Rounds.ts"
import type { Reported } from "./Rounds.ts"

const report: ReadonlyArray<Reported> = [
  { text: "alpha3", category: "Vulnerability", severity: "critical" },
  { text: "alpha5", category: "security", severity: "high" },
  { text: "alpha7", category: "correctness", severity: "critical" }
]
const outputs = { channels: [{ name: "ops", kind: "feishu_bot", webhook_url: "https://chat.test/hook" }] }
const options = { report, models: ["fake/m"], review: { private: { channel: "ops" } }, document: { outputs } }

const listPrivate = ({ private: delivered = [] }: Analysis) =>
  delivered.map(({ finding }) => `${finding.round?.kind} ${finding.problem.title?.split(" ")[0]}`)
const withoutPrivate = ({ private: _delivered, ...others }: Analysis) => JSON.stringify(others)
const verdict = (analysis: Analysis) => decideVerdict(analysis, { unread: "fail", status_fail_on: "critical" })

it("they are in no other list, count, and leave no text of a model about the whole change", async () => {
  const change = startRounds({ "src/a.ts": [""], "src/b.ts": [""] })
  const only = { ...options, report: report.slice(0, 2) }
  const one = await change.push({ "src/a.ts": lines("alpha") }, only)
  expect(listPrivate(one.analysis)).toEqual(["new alpha3"])
  expect(listKinds(one.analysis).published).toEqual(["new alpha5"])
  expect(withoutPrivate(one.analysis)).not.toContain("alpha3")
  expect(one.analysis.summary).toBe("")
  expect(one.analysis.notices.map(inEnglish)).toContain(
    "1 problem was delivered to the maintainers only. It counts like others."
  )
  expect(verdict(one.analysis)).toBe("failure")

  // It is not read again, and stays private under the name that its message has; the next prompt does not name it.
  const two = await change.push({ "src/b.ts": lines("beta", 3) }, only)
  expect(listPrivate(two.analysis)).toEqual(["carried alpha3"])
  expect(two.analysis.private?.[0]?.salt).toBe(one.analysis.private?.[0]?.salt)
  expect(withoutPrivate(two.analysis)).not.toContain("alpha3")
  const three = await change.push({ "src/a.ts": lines("alpha").with(11, "const more = 1") }, only)
  expect(listPrivate(three.analysis)).toEqual(["carried alpha3"])
  expect(three.briefs[0]?.prompt).not.toContain("alpha3 is wrong")

  const repaired = await change.push({ "src/a.ts": lines("alpha").with(3, "const safe = 1") }, only)
  expect(repaired.analysis.private).toBeUndefined()
  expect(repaired.analysis.summary).toBe("Read.")
  expect(verdict(repaired.analysis)).toBe("success")
})

it("of those that verification refutes, only a salted digest is kept", async () => {
  const refuted = { verdict: "refute", reason: "zebra-reason" }
  const change = startRounds({ "src/a.ts": [""] })
  const { analysis } = await change.push(
    { "src/a.ts": lines("alpha") },
    {
      ...options,
      report: report.slice(0, 2),
      review: { ...options.review, verification: "always" },
      gateway: (request) =>
        Effect.succeed(calling("verdicts", verdictsOn(JSON.stringify(request.messages), refuted)?.calls[0]?.input))
    }
  )
  expect(analysis.private).toBeUndefined()
  expect(analysis.privateRefuted).toEqual([{ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }])
  expect(analysis.refuted?.map(({ finding }) => finding.problem.title)).toEqual(["alpha5 is wrong"])
  expect(JSON.stringify(analysis.privateRefuted)).not.toContain("alpha3")
  expect(JSON.stringify(analysis)).not.toContain("alpha3 is wrong")
  const statement = buildStatement(
    {
      runId: "r",
      change: {
        provider: "gitea",
        trigger: "t",
        workspace: "w",
        repo: { fullName: "o/r" },
        target: { kind: "pull_request", number: 1 }
      },
      head: "a".repeat(40),
      base: undefined,
      configHash: "c",
      analysis,
      review: { unread: "neutral" }
    },
    "2026-01-01T00:00:00.000Z"
  )
  const { predicate } = JSON.parse(statement ?? "")
  expect(predicate.privateRefuted).toEqual(analysis.privateRefuted)
  expect(predicate.refuted).toHaveLength(1)
})

it("a kind that people rarely accept is delivered all the same, and one that was folded before is not folded any more", async () => {
  const group = {
    category: "security",
    severity: "medium",
    model: "fake/m",
    judged: 40,
    accepted: 0,
    share: 0.04
  } as const
  const acceptance: Acceptance = { floor: 0.2, groups: [{ ...group, isFolded: true }], wordings: [], examples: [] }
  const only = {
    ...options,
    acceptance,
    review: { private: { channel: "ops", severity: "medium" } },
    report: [{ text: "alpha3", category: "security", severity: "medium" }] as const
  }
  const change = startRounds({ "src/a.ts": [""], "src/b.ts": [""] })
  const open = await change.push({ "src/a.ts": lines("alpha") }, { ...only, review: {} })
  expect(open.analysis.folded).toHaveLength(1)
  const closed = await change.push({ "src/b.ts": lines("beta", 3) }, only)
  expect(listPrivate(closed.analysis)).toHaveLength(1)
  expect(closed.analysis.folded).toBeUndefined()
  expect(withoutPrivate(closed.analysis)).not.toContain("alpha3")
  const first = startRounds({ "src/a.ts": [""] })
  expect(listPrivate((await first.push({ "src/a.ts": lines("alpha") }, only)).analysis)).toEqual(["new alpha3"])
})

it("severity and categories are those of the configuration, and nothing is private without a channel", async () => {
  const kinds = async (rule: object) => {
    const change = startRounds({ "src/a.ts": [""] })
    const { analysis } = await change.push({ "src/a.ts": lines("alpha") }, { ...options, review: { private: rule } })
    return (analysis.private ?? []).map(({ finding }) => finding.problem.title?.split(" ")[0]).toSorted()
  }
  expect(await kinds({ channel: "ops", severity: "high" })).toEqual(["alpha3", "alpha5"])
  expect(await kinds({ channel: "ops", categories: ["bug"] })).toEqual(["alpha7"])
  expect(await kinds({ severity: "info", categories: ["security"] })).toEqual([])
})
