/** The passes of a change, one agent call each, and their reports as one. A pass that fails fails the review. */
import { Effect } from "effect"
import { Agent } from "../agent/Agent.ts"
import type { AgentError, AgentReport, Brief } from "../agent/Agent.ts"
import type { Usage } from "../domain/Analysis.ts"

/** Passes that run at the same time. */
const atOnce = 3

export const analyseBatches = Effect.fn("analyseBatches")(function* (
  briefs: ReadonlyArray<() => Brief>
): Effect.fn.Return<AgentReport, AgentError, Agent> {
  const agent = yield* Agent
  // A large brief takes a while to write: others run in between.
  const pass = (brief: () => Brief) =>
    Effect.andThen(
      Effect.yieldNow,
      Effect.suspend(() => agent.analyse(brief()))
    )
  const reports = yield* Effect.forEach(briefs, pass, { concurrency: atOnce })
  return joinReports(reports)
})

export const joinReports = (reports: ReadonlyArray<AgentReport>): AgentReport => {
  const summaries = reports.flatMap(({ summary }) =>
    summary === undefined || summary.trim() === "" ? [] : [summary.trim()]
  )
  const skips = reports.flatMap(({ skipped }) => (skipped === undefined ? [] : [skipped]))
  return {
    problems: reports.flatMap(({ problems }) => problems),
    summary: summaries.length === 0 ? undefined : summaries.join("\n\n"),
    // One pass with something to say makes it a review.
    skipped: reports.length > 0 && skips.length === reports.length ? [...new Set(skips)].join(" ") : undefined,
    models: [...new Set(reports.flatMap(({ models }) => models))],
    usage: reports.map(({ usage }) => usage).reduce(addUsage, noUsage),
    notices: [...new Set(reports.flatMap(({ notices }) => notices))]
  }
}

export const noUsage: Usage = { requests: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 }

/** An unknown price makes the sum unknown. */
const addUsage = (a: Usage, b: Usage): Usage => ({
  requests: a.requests + b.requests,
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedTokens: a.cachedTokens + b.cachedTokens,
  ...(a.costUsd === undefined || b.costUsd === undefined ? {} : { costUsd: a.costUsd + b.costUsd })
})
