import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { AgentError } from "../../src/agent/Agent.ts"
import type { ReportedProblem } from "../../src/domain/Problem.ts"
import { makeRepository } from "../vcs/Repository.ts"
import { calling, emptyReport, runEngine } from "./Fixture.ts"

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

describe("verification", () => {
  it("auto shows high and critical findings to a model again, with their code", async () => {
    const { analysis, calls } = await runEngine({
      ...change(),
      agent,
      review: { verification: "auto" },
      gateway: () => Effect.succeed(calling("verdict", { verdict: "confirm", reason: "it is so" }))
    })
    expect(calls).toHaveLength(2)
    expect(calls.map(({ role, group }) => [role, group])).toEqual([
      ["heavy", "default"],
      ["heavy", "default"]
    ])
    const [message] = calls[0]?.messages ?? []
    const text = message?.role === "user" ? message.text : ""
    expect(text).toContain("about critical")
    expect(text).toContain('1: fault("critical")')
    expect(text).toContain('|+fault("low")')
    expect(aboutOf(analysis)).toEqual(all)
    expect(analysis.usage).toMatchObject({ requests: 3, inputTokens: 24, costUsd: 1 })
    expect(analysis.models).toEqual(["test/model", "test/second"])
    expect(analysis.refuted).toBeUndefined()
  })

  it("leaves out what is refuted, with the reason on record, and lowers what is downgraded", async () => {
    const { analysis, calls } = await runEngine({
      ...change(),
      agent,
      review: { verification: "always" },
      gateway: ({ messages: [message] }) => {
        const text = message?.role === "user" ? message.text : ""
        if (text.includes("about critical")) {
          return Effect.succeed(calling("verdict", { verdict: "refute", reason: "checked above", severity: null }))
        }
        return Effect.succeed(
          calling("verdict", {
            verdict: "downgrade",
            reason: "rare",
            severity: text.includes("about low") ? "high" : "info"
          })
        )
      }
    })
    expect(calls).toHaveLength(4)
    expect(aboutOf(analysis)).toEqual([
      ["about low", "low"],
      ["about high", "info"],
      ["about medium", "info"]
    ])
    expect(analysis.refuted).toMatchObject([
      { finding: { problem: { message: "about critical" } }, reason: "checked above", model: "test/second" }
    ])
    expect(analysis.notices.join()).toContain("1 reported problems were refuted")
  })

  it.each([
    ["an answer in prose", { ...calling("verdict", {}), calls: [] }],
    ["another tool", calling("report_problem", { verdict: "refute", reason: "x" })],
    ["an unknown verdict", calling("verdict", { verdict: "approve", reason: "x" })],
    ["no reason", calling("verdict", { verdict: "refute" })],
    ["a downgrade to nothing", calling("verdict", { verdict: "downgrade", reason: "x" })],
    ["a failure", undefined]
  ])("keeps the finding after %s", async (_, answer) => {
    const { analysis } = await runEngine({
      ...change(),
      agent,
      review: { verification: "always" },
      ...(answer === undefined ? {} : { gateway: () => Effect.succeed(answer) })
    })
    expect(aboutOf(analysis)).toEqual(all)
    expect(analysis.notices.join()).toContain("4 problems are published without their second look")
  })

  it("off makes no call, and a verified finding is not verified again", async () => {
    const { repository, base, head } = change()
    const confirm = () => Effect.succeed(calling("verdict", { verdict: "confirm", reason: "y" }))
    const first = await runEngine({ repository, base, head, agent, gateway: confirm })
    expect(first.calls).toEqual([])
    repository.write("b.ts", "fine()\n")
    const next = await runEngine({
      repository,
      base,
      head: repository.commit("more"),
      gateway: confirm,
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
    return { repository, base, head: repository.commit("many"), document: { compression: { trigger_tokens: 5500 } } }
  }
  const failing =
    (fails: (prompt: string) => boolean) =>
    ({ prompt }: { readonly prompt: string }) => {
      if (fails(prompt)) return Effect.fail(new AgentError({ reason: "retryable", message: "overloaded" }))
      const quote = /\|\+(const \w+ = compute\(0\))/.exec(prompt)?.[1] ?? ""
      const file = /^=== (\S+)/m.exec(prompt)?.[1] ?? ""
      return Effect.succeed({
        ...emptyReport,
        summary: "Fine.",
        problems: quote === "" ? [] : [{ file, severity: "low" as const, category: "bug", message: "m", quote }]
      })
    }

  it("keeps the findings of the others, and lists what was not read", async () => {
    const { repository, base, head, document } = large()
    const { analysis, briefs } = await runEngine({
      repository,
      base,
      head,
      document,
      agent: failing((prompt) => /^=== b\.ts/m.test(prompt))
    })
    expect(briefs.length).toBeGreaterThan(1)
    expect(analysis.partial).toBe(true)
    expect(analysis.findings.length).toBeGreaterThan(0)
    expect(analysis.coverage.skipped).toContainEqual({ path: "b.ts", reason: "failed", unread: true })
    expect(analysis.coverage.reviewed).not.toContain("b.ts")
    expect(analysis.notices.join()).toMatch(/of \d passes failed/)
    const again = await runEngine({ repository, base, head, document, previous: analysis })
    expect(again.analysis.coverage.reviewed).toContain("b.ts")
    expect(again.analysis.coverage.skipped.some(({ reason }) => reason === "unchanged")).toBe(true)
    expect(again.analysis.partial).toBeUndefined()
  })

  it("fails the review when all do", async () => {
    await expect(runEngine({ ...large(), agent: failing(() => true) })).rejects.toMatchObject({ reason: "retryable" })
  })
})
