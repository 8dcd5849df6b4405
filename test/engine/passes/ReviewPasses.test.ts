/** Passes of a change that end in different ways: the others are kept, and the coverage names what was not read. */
import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { AgentError } from "../../../src/agent/Agent.ts"
import type { AgentReport } from "../../../src/agent/Agent.ts"
import { isRefusedByBudget, noUsage } from "../../../src/domain/Analysis.ts"
import { makeRepository } from "../../vcs/Repository.ts"
import { emptyReport, runEngine } from "../Fixture.ts"
import { inEnglish } from "../../../src/text/en.ts"

const names = ["alpha", "beta", "gamma"]
const repository = makeRepository()
const base = repository.commit("base")
const filler = Array.from({ length: 300 }, (_, line) => `export const value${line} = ${line} * 17`).join("\n")
for (const name of names) repository.write(`src/${name}.ts`, `export const ${name} = 1\n${filler}\n`)
const head = repository.commit("head")

type Ending = Effect.Effect<Partial<AgentReport>, AgentError>

/** Reviews the change; `beta` is how the pass over that file ends. Every other one reports a problem. */
const review = (beta: Ending, isLastAttempt = false) =>
  runEngine({
    repository,
    base,
    head,
    isLastAttempt,
    agent: ({ prompt }) => {
      const name = names.find((one) => prompt.includes(`export const ${one} = 1`)) ?? ""
      const problem = {
        file: `src/${name}.ts`,
        severity: "high",
        category: "bug",
        message: `about ${name}`,
        quote: `export const ${name} = 1`
      } as const
      const report = { ...emptyReport, problems: [problem], summary: `Notes on ${name}.` }
      return name === "beta" ? Effect.map(beta, (ending) => ({ ...report, ...ending })) : Effect.succeed(report)
    }
  })

const foundIn = ({
  findings
}: {
  readonly findings: ReadonlyArray<{ readonly problem: { readonly message: string } }>
}) => findings.map(({ problem }) => problem.message).toSorted()

const failing = (reason: AgentError["reason"]) =>
  Effect.fail(new AgentError({ reason, why: verbatimReason("no luck") }))
const skippedBeta = (reason: string) => [{ path: "src/beta.ts", reason, unread: true, read: 0, changed: 301 }]

describe("a change of three passes", () => {
  it("is read as a whole", async () => {
    const { analysis, briefs } = await review(Effect.succeed({}))
    expect(briefs).toHaveLength(3)
    expect(briefs.map(({ onBegin }) => onBegin !== undefined)).toEqual([true, false, false])
    expect(foundIn(analysis)).toEqual(["about alpha", "about beta", "about gamma"])
    expect(analysis.coverage.skipped).toEqual([])
    expect([analysis.coverage.lines, analysis.coverage.changed]).toEqual([903, 903])
    // No model writes a summary of all, so the notes of the passes are the summary.
    for (const name of names) expect(analysis.summary).toContain(`Notes on ${name}.`)
  })

  it("keeps the findings of the others when one fails", async () => {
    const { analysis } = await review(failing("failed"))
    expect(foundIn(analysis)).toEqual(["about alpha", "about gamma"])
    expect(analysis.coverage.skipped).toEqual(skippedBeta("failed"))
    expect(analysis.coverage.lines).toBe(602)
    expect(analysis.notices.map(inEnglish).join("\n")).toContain("1 of 3 passes failed")
  })

  it("keeps what a pass reported before it failed", async () => {
    const failure = new AgentError({ reason: "failed", why: verbatimReason("no luck") })
    const { analysis } = await review(Effect.succeed({ failure }))
    expect(foundIn(analysis)).toEqual(["about alpha", "about beta", "about gamma"])
    expect(analysis.coverage.skipped).toEqual(skippedBeta("failed"))
  })

  it.each([
    ["budget", {}],
    ["output_limit", { isCutOff: true }]
  ] as const)("names the reason of a pass that ended early: %s", async (reason, more) => {
    const { analysis } = await review(Effect.succeed({ stopped: { _tag: "BudgetEndedReview" } as const, ...more }))
    expect(foundIn(analysis)).toEqual(["about alpha", "about beta", "about gamma"])
    expect(analysis.coverage.skipped).toEqual(skippedBeta(reason))
  })

  it("reports a change of which the budget allowed no pass as not reviewed", async () => {
    const stopped = { ...emptyReport, usage: noUsage, stopped: { _tag: "BudgetEndedReview" } as const }
    const { analysis } = await runEngine({ repository, base, head, agent: () => Effect.succeed(stopped) })
    expect(analysis).toMatchObject({ findings: [], partial: true, coverage: { reviewed: [], lines: 0 } })
    expect(analysis.coverage.skipped.map(({ reason }) => reason)).toEqual(["budget", "budget", "budget"])
    expect([analysis.summary, analysis.conclusion]).toEqual(["", { _tag: "NotReviewedForBudget" }])
    expect(isRefusedByBudget(analysis)).toBe(true)
  })

  it("waits for a provider that refuses one of them, also in the last attempt", async () => {
    for (const reason of ["throttled", "unreachable"] as const) {
      await expect(review(failing(reason), true)).rejects.toMatchObject({ reason })
    }
  })

  it("fails for a transient failure of one, and is kept in the last attempt", async () => {
    await expect(review(failing("retryable"))).rejects.toThrow("no luck")
    const { analysis } = await review(failing("retryable"), true)
    expect(foundIn(analysis)).toEqual(["about alpha", "about gamma"])
    expect(analysis.coverage.skipped).toEqual(skippedBeta("failed"))
  })
})
