/** The verdict of one review, and what a success requires of what its model sent. */
import { expect } from "vitest"
import type { Effect } from "effect"
import { AgentError } from "../../src/agent/Agent.ts"
import type { AgentReport, Brief } from "../../src/agent/Agent.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { decideVerdict } from "../../src/domain/Verdict.ts"
import { runEngine } from "../engine/Fixture.ts"
import { makeRepository } from "../vcs/Repository.ts"
import { fault, faultsIn, lines } from "./ModelSteps.ts"
import type { Step } from "./ModelSteps.ts"

/** Calls that a model made in one conversation. */
export interface Sent {
  readonly steps: Array<Step>
}

/** A change that adds a file with a line for each fault. */
export const makeChange = () => {
  const repository = makeRepository()
  const base = repository.commit("base")
  repository.write("src/a.ts", `${lines.join("\n")}\n`)
  return { repository, base, head: repository.commit("head") }
}

export interface Outcome {
  readonly verdict: string
  readonly analysis?: Analysis
}

/** Reviews the change. A review that fails has the verdict of its commit status. */
export const reviewBy = async (
  change: ReturnType<typeof makeChange>,
  agent: (brief: Brief) => Effect.Effect<AgentReport, AgentError>
): Promise<Outcome> => {
  try {
    const { analysis } = await runEngine({ ...change, agent })
    return { verdict: decideVerdict(analysis, { unread: "neutral" }), analysis }
  } catch (error) {
    if (error instanceof AgentError) return { verdict: "failure" }
    throw error
  }
}

/** Checks a success: each conversation had a summary, and each of its reports is among the problems. Returns 1 for a success. */
export const expectEarned = ({ analysis, verdict }: Outcome, sent: ReadonlyArray<Sent>): number => {
  if (verdict !== "success") return 0
  const messages = (analysis?.findings ?? []).map(({ problem }) => problem.message)
  for (const { steps } of sent) {
    expect(
      steps.some(({ kind }) => kind === "summary"),
      "a summary"
    ).toBe(true)
    for (const id of faultsIn(steps))
      expect(messages, `${fault(id)} is among the problems`).toContainEqual(expect.stringContaining(fault(id)))
  }
  return 1
}
