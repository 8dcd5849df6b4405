/**
 * The passes of a change, one agent call each, and their combined report. When a pass fails, the findings of the others
 * are kept; the review fails when all passes fail.
 */
import { Effect } from "effect"
import { Agent, AgentError } from "../agent/Agent.ts"
import type { AgentReport, Brief } from "../agent/Agent.ts"
import { addUsage, noUsage } from "../domain/Analysis.ts"
import type { ModelRun } from "../llm/ModelRun.ts"
import type { AnalysisError } from "./threads/AnalysisError.ts"

/** Passes that run at the same time. */
const atOnce = 3

export interface Analysed {
  readonly report: AgentReport
  /** Positions of the passes that did not get to read everything, and why: the money was used up, or they failed. */
  readonly unread: ReadonlyMap<number, "budget" | "failed">
}

export const analyseBatches = Effect.fn("analyseBatches")(function* (
  briefs: ReadonlyArray<Effect.Effect<Brief, AnalysisError>>
): Effect.fn.Return<Analysed, AgentError | AnalysisError, Agent | ModelRun> {
  const agent = yield* Agent
  // Without its thread no further pass can be written: that ends the review.
  const results = yield* Effect.forEach(
    briefs,
    (brief) => Effect.flatMap(brief, (written) => Effect.result(agent.analyse(written))),
    { concurrency: atOnce }
  )
  const reports = results.flatMap((result) => (result._tag === "Success" ? [result.success] : []))
  const errors = results.flatMap((result) => (result._tag === "Failure" ? [result.failure] : []))
  const [first] = errors
  // A retryable failure is retried as a whole, because no paid result exists.
  if (reports.length === 0 && first !== undefined) {
    return yield* errors.find(({ reason }) => reason === "retryable") ?? first
  }
  // No model was called, so the failure is the only result.
  const stopped = reports.find((report) => report.stopped !== undefined)?.stopped
  if (stopped !== undefined && reports.every((report) => report.stopped !== undefined && report.usage.requests === 0)) {
    return yield* new AgentError({ reason: "failed", message: stopped })
  }
  for (const { message } of errors) yield* Effect.logWarning("pass of a review failed", { error: message })
  const joined = joinReports(reports)
  const notices =
    errors.length === 0
      ? joined.notices
      : [
          ...joined.notices,
          `${errors.length} of ${briefs.length} passes failed; what they were to read was not reviewed.`
        ]
  return {
    report: { ...joined, notices },
    unread: new Map(
      results.flatMap((result, index): ReadonlyArray<readonly [number, "budget" | "failed"]> => {
        if (result._tag === "Failure") return [[index, "failed"]]
        return result.success.stopped === undefined ? [] : [[index, "budget"]]
      })
    )
  }
})

const joinReports = (reports: ReadonlyArray<AgentReport>): AgentReport => {
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
