import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { AgentError } from "../../../src/agent/Agent.ts"
import { GatewayError } from "../../../src/llm/Gateway.ts"
import type { GatewayRequest } from "../../../src/llm/Gateway.ts"
import type { ReportedProblem } from "../../../src/domain/Problem.ts"
import { makeRepository } from "../../vcs/Repository.ts"
import { calling, emptyReport, runEngine } from "../Fixture.ts"
import { inEnglish } from "../../../src/text/en.ts"

const severities = ["critical", "high", "medium", "low"] as const

const change = () => {
  const repository = makeRepository()
  const base = repository.commit("base")
  repository.write("a.ts", `${severities.map((one) => `fault("${one}")`).join("\n\n")}\n`)
  return { repository, base, head: repository.commit("head") }
}

const problems = severities.map((severity): ReportedProblem => ({
  file: "a.ts",
  severity,
  category: severity,
  message: `about ${severity}`,
  quote: `fault("${severity}")`
}))
const agent = () => Effect.succeed({ ...emptyReport, problems })
const aboutOf = (analysis: { readonly findings: ReadonlyArray<{ readonly problem: ReportedProblem }> }) =>
  analysis.findings.map(({ problem }) => [problem.message, problem.severity])
const all = severities.map((one) => [`about ${one}`, one])

const verdicts = (...given: ReadonlyArray<Record<string, unknown>>) =>
  calling("verdicts", { verdicts: given.map((one, at) => ({ number: at + 1, ...one })) })
const confirm = { verdict: "confirm", reason: "it is so" }
const textOf = (request: GatewayRequest | undefined) =>
  (request?.messages ?? []).map((message) => (message.role === "user" ? message.text : "")).join("\n")

describe("verification", () => {
  it("auto shows high and critical findings to a model again, with their code, in one call", async () => {
    const { analysis, briefs, calls } = await runEngine({
      ...change(),
      agent,
      review: { verification: "auto" },
      gateway: () => Effect.succeed(verdicts(confirm, confirm))
    })
    expect(calls).toHaveLength(1)
    expect([calls[0]?.role, calls[0]?.group, calls[0]?.toolChoice]).toEqual(["heavy", "default", "required"])
    const text = textOf(calls[0])
    expect(text).toContain("about critical")
    expect(text).toContain("about high")
    expect(text).not.toContain("about medium")
    expect(text).toContain('+: fault("low")')
    expect(calls[0]?.system).toBe(briefs[0]?.system)
    expect(aboutOf(analysis)).toEqual(all)
    expect(analysis.usage).toMatchObject({ requests: 2, inputTokens: 17, costUsd: 0.75 })
    expect(analysis.models).toEqual(["test/model", "test/second"])
    expect(analysis.refuted).toBeUndefined()
  })

  it("leaves out what is refuted, with the reason on record, and lowers what is downgraded", async () => {
    const { analysis, calls } = await runEngine({
      ...change(),
      agent,
      review: { verification: "always" },
      gateway: () =>
        Effect.succeed(
          verdicts(
            { verdict: "refute", reason: "checked above", severity: null },
            { verdict: "downgrade", reason: "rare", severity: "info" },
            { verdict: "downgrade", reason: "rare", severity: "info" },
            { verdict: "downgrade", reason: "rare", severity: "high" }
          )
        )
    })
    expect(calls).toHaveLength(1)
    expect(aboutOf(analysis)).toEqual([
      ["about low", "low"],
      ["about high", "info"],
      ["about medium", "info"]
    ])
    expect(analysis.refuted).toMatchObject([
      { finding: { problem: { message: "about critical" } }, reason: "checked above", model: "test/second" }
    ])
    expect(analysis.notices.map(inEnglish).join()).toContain("1 reported problem was refuted")
  })

  it("may read files first, and sends their lines along", async () => {
    const { calls } = await runEngine({
      ...change(),
      agent,
      review: { verification: "auto" },
      gateway: (_, call) =>
        Effect.succeed(
          call === 1
            ? calling("fetch_more_context", { path: "a.ts", range: "1-3", reason: "to see" })
            : verdicts(confirm, confirm)
        )
    })
    expect(calls).toHaveLength(2)
    expect(calls.map(({ continues }) => continues)).toEqual([true, true])
    expect(JSON.stringify(calls[1]?.messages)).toContain("a.ts, lines 1 to 3")
  })

  it("keeps high and critical findings without a valid verdict, and discards others", async () => {
    const { analysis } = await runEngine({
      ...change(),
      agent,
      review: { verification: "always" },
      gateway: () =>
        Effect.succeed(
          verdicts({ verdict: "refute", reason: "x" }, { verdict: "refute" }, { verdict: "approve", reason: "x" })
        )
    })
    expect(aboutOf(analysis)).toEqual([["about high", "high"]])
    const notices = analysis.notices.map(inEnglish).join()
    expect(notices).toContain("1 reported problem was refuted")
    expect(notices).toContain("2 less serious problems were discarded")
    expect(analysis.refuted?.map(({ finding, undecided }) => [finding.problem.severity, undecided])).toEqual([
      ["critical", undefined],
      ["medium", true],
      ["low", true]
    ])
  })

  it.each([
    ["refute", "confirm"],
    ["confirm", "refute"],
    ["refute", "downgrade"]
  ])("decides nothing about a finding on which the verdicts are both %s and %s", async (first, second) => {
    const verdict = (name: string) => ({ number: 1, verdict: name, reason: "x", severity: "low" })
    const twice = { verdicts: [verdict(first), verdict(second)] }
    const inOne = calling("verdicts", twice)
    const inTwo = {
      ...inOne,
      calls: twice.verdicts.map((one, at) => ({ id: `${at}`, name: "verdicts", input: { verdicts: [one] } }))
    }
    for (const response of [inOne, inTwo]) {
      const { analysis, calls } = await runEngine({
        ...change(),
        agent,
        review: { verification: "always" },
        gateway: () => Effect.succeed(response)
      })
      // The serious ones are checked again with what the author writes.
      expect(calls).toHaveLength(2)
      expect(aboutOf(analysis)).toEqual(all.slice(0, 2))
      expect(analysis.notices.map(inEnglish).join()).toContain("2 problems are published unverified")
    }
  })

  it("takes the same verdict twice as one", async () => {
    const { analysis } = await runEngine({
      ...change(),
      agent,
      review: { verification: "always" },
      gateway: () =>
        Effect.succeed(
          calling("verdicts", {
            verdicts: ["it is checked", "checked above"].map((reason) => ({ number: 1, verdict: "refute", reason }))
          })
        )
    })
    expect(aboutOf(analysis)).toEqual([["about high", "high"]])
  })

  it.each([
    ["a response in prose", { ...calling("verdicts", {}), calls: [] }],
    ["another tool", calling("report_problem", { verdict: "refute", reason: "x" })],
    ["an unknown verdict", verdicts({ verdict: "approve", reason: "x" })],
    ["no reason", verdicts({ verdict: "refute" })],
    ["a downgrade to nothing", verdicts({ verdict: "downgrade", reason: "x" })],
    ["a failure", undefined]
  ])("keeps the finding after %s", async (_, response) => {
    const { analysis, calls } = await runEngine({
      ...change(),
      agent,
      review: { verification: "always" },
      ...(response === undefined ? {} : { gateway: () => Effect.succeed(response) })
    })
    expect(calls).toHaveLength(response === undefined ? 1 : 2)
    expect(aboutOf(analysis)).toEqual(all)
    expect(analysis.notices.map(inEnglish).join()).toContain("4 problems are published unverified")
  })

  it("waits for a provider that refuses it, also in the last attempt", async () => {
    const refused = new GatewayError({ reason: "rate_limited", why: verbatimReason("busy") })
    const review = runEngine({
      ...change(),
      agent,
      isLastAttempt: true,
      review: { verification: "always" },
      gateway: () => Effect.fail(refused)
    })
    await expect(review).rejects.toMatchObject({ reason: "throttled" })
  })

  it("off makes no call, and a verified finding is not verified again", async () => {
    const { repository, base, head } = change()
    const confirms = () => Effect.succeed(verdicts(confirm))
    const first = await runEngine({ repository, base, head, agent, gateway: confirms })
    expect(first.calls).toEqual([])
    repository.write("b.ts", "fine()\n")
    const next = await runEngine({
      repository,
      base,
      head: repository.commit("more"),
      gateway: confirms,
      review: { verification: "always" },
      previous: first.analysis
    })
    expect(next.calls).toEqual([])
    expect(aboutOf(next.analysis)).toEqual(all)
  })
})

describe("a pass that fails", () => {
  const large = () => {
    const repository = makeRepository()
    const base = repository.commit("empty")
    for (const name of ["a", "b", "c"]) {
      repository.write(
        `${name}.ts`,
        Array.from({ length: 200 }, (_, i) => `const ${name}${i} = compute(${i})\n`).join("")
      )
    }
    const head = repository.commit("many")
    return { repository, base, head, document: { compression: { trigger_tokens: 5500 } }, review: { max_passes: 40 } }
  }
  const failing =
    (fails: (prompt: string) => boolean) =>
    ({ prompt }: { readonly prompt: string }) => {
      if (fails(prompt)) return Effect.fail(new AgentError({ reason: "retryable", why: verbatimReason("overloaded") }))
      const quote = /\d\+: (const \w+ = compute\(0\))/.exec(prompt)?.[1] ?? ""
      const file = /^=== (\S+)/m.exec(prompt)?.[1] ?? ""
      return Effect.succeed({
        ...emptyReport,
        summary: "Fine.",
        problems: quote === "" ? [] : [{ file, severity: "low" as const, category: "bug", message: "m", quote }]
      })
    }

  it("keeps the findings of the others, and lists what was not read", async () => {
    const failingPass = large()
    const { analysis, briefs } = await runEngine({
      ...failingPass,
      agent: failing((prompt) => /^=== b\.ts/m.test(prompt))
    })
    expect(briefs.length).toBeGreaterThan(1)
    expect(analysis.partial).toBe(true)
    expect(analysis.findings.length).toBeGreaterThan(0)
    expect(analysis.coverage.skipped).toContainEqual({
      path: "b.ts",
      reason: "failed",
      unread: true,
      read: 0,
      changed: 200
    })
    expect(analysis.coverage.reviewed).not.toContain("b.ts")
    expect(analysis.notices.map(inEnglish).join()).toMatch(/of \d passes failed/)
    expect(analysis.notices.map(inEnglish).join()).toContain("400 of 600 changed lines were read")
    const again = await runEngine({ ...failingPass, previous: analysis })
    expect(again.analysis.coverage.reviewed).toContain("b.ts")
    expect(again.analysis.coverage.skipped.some(({ reason }) => reason === "unchanged")).toBe(true)
    expect(again.analysis.partial).toBeUndefined()
  })

  it("fails the review where it is attempted again, and a verification that fails does so too", async () => {
    const first = await runEngine({
      ...large(),
      isLastAttempt: false,
      agent: failing((prompt) => /^=== b\.ts/m.test(prompt))
    }).catch((error: unknown) => error)
    expect(first).toMatchObject({ reason: "retryable", message: "overloaded" })
    const verifying = runEngine({ ...change(), agent, isLastAttempt: false, review: { verification: "auto" } })
    await expect(verifying).rejects.toMatchObject({ reason: "retryable" })
  })

  it("fails the review when all do", async () => {
    await expect(runEngine({ ...large(), agent: failing(() => true) })).rejects.toMatchObject({ reason: "retryable" })
  })
})
