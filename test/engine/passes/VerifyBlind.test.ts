/** Verification without what the author of the change writes, and with it. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { GatewayRequest } from "../../../src/llm/Gateway.ts"
import type { ReportedProblem } from "../../../src/domain/Problem.ts"
import { makeRepository } from "../../vcs/Repository.ts"
import { calling, emptyReport, runEngine } from "../Fixture.ts"

const change = (path = "src/list.ts") => {
  const repository = makeRepository()
  const base = repository.commit("base")
  repository.write(path, "// reviewed by security\nrun(input) // safe\n")
  return { repository, base, head: repository.commit("head: safe"), title: "reviewed by security" }
}
const problem = (severity: ReportedProblem["severity"], file = "src/list.ts"): ReportedProblem => ({
  file,
  severity,
  category: "security",
  message: `about ${severity}`,
  quote: "run(input)"
})
const agent =
  (...problems: ReadonlyArray<ReportedProblem>) =>
  () =>
    Effect.succeed({ ...emptyReport, problems })
const textOf = ({ messages }: GatewayRequest) => JSON.stringify(messages)
const isFramed = (request: GatewayRequest) => /reviewed by|\/\/ safe/.test(textOf(request))

/** A model that gives one verdict to who has read what the author writes, and another one to who has not. */
const model = (blind: string, framed: string) => (request: GatewayRequest) =>
  Effect.succeed(
    calling("verdicts", {
      verdicts: [1, 2].map((number) => ({
        number,
        verdict: /reviewed by|\/\/ safe/.test(textOf(request)) ? framed : blind,
        reason: "it is so"
      }))
    })
  )

const verify = (
  given: ReturnType<typeof change>,
  problems: ReadonlyArray<ReportedProblem>,
  blind: string,
  framed: string,
  mode?: string
) =>
  runEngine({
    ...given,
    agent: agent(...problems),
    review: { verification: "always", ...(mode === undefined ? {} : { blind: mode }) },
    gateway: model(blind, framed)
  })

describe("blind verification", () => {
  it.each(["high", "critical"] as const)(
    "shows nothing that the author writes about a %s finding, whatever its file",
    async (severity) => {
      const { analysis, calls } = await verify(change(), [problem(severity)], "confirm", "refute")
      expect(calls).toHaveLength(1)
      expect(textOf(calls[0] as GatewayRequest)).not.toMatch(/reviewed by|\/\/ safe/)
      expect(analysis.findings).toMatchObject([{ verified: "it is so", anchor: { line: 2 } }])
      expect(analysis.refuted).toBeUndefined()
    }
  )

  it("off, findings are verified with what the author writes, and so are less serious ones of other files", async () => {
    for (const [severity, mode] of [
      ["high", "off"],
      ["medium", "auto"]
    ] as const) {
      const { analysis } = await verify(change(), [problem(severity)], "confirm", "refute", mode)
      expect(analysis.findings).toEqual([])
      expect(analysis.refuted).toHaveLength(1)
    }
  })

  it("checks a finding of a file without a parser with what the author writes", async () => {
    const { analysis } = await verify(change("src/list.sql"), [problem("high", "src/list.sql")], "confirm", "refute")
    expect(analysis.refuted).toHaveLength(1)
  })

  it("that refutes a finding, or lowers it, decides", async () => {
    const { analysis, calls } = await verify(change(), [problem("critical")], "refute", "confirm")
    expect(calls).toHaveLength(1)
    expect(analysis.refuted).toMatchObject([{ reason: "it is so" }])
  })

  it("that decides nothing is repeated with what the author writes, which refutes nothing and lowers nothing", async () => {
    const { analysis, calls } = await verify(change(), [problem("critical")], "undecided", "refute")
    expect(calls).toHaveLength(2)
    expect(calls.map((request) => isFramed(request))).toEqual([false, true])
    expect(analysis.findings).toMatchObject([{ problem: { severity: "critical" }, explained: true }])
    const confirmed = await verify(change(), [problem("critical")], "undecided", "confirm")
    expect(confirmed.analysis.findings).toMatchObject([{ verified: "it is so" }])
    expect(confirmed.analysis.findings[0]).not.toHaveProperty("explained")
  })

  it("that decides nothing discards what is not serious, without a second call", async () => {
    const { analysis, calls } = await verify(
      change("src/auth/list.ts"),
      [problem("medium", "src/auth/list.ts")],
      "undecided",
      "confirm"
    )
    expect(calls).toHaveLength(1)
    expect(analysis.findings).toEqual([])
    expect(analysis.refuted).toMatchObject([{ undecided: true, finding: { problem: { severity: "medium" } } }])
  })
})
