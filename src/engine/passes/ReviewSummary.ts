/**
 * The summary of a review of several passes, written by one small call from the notes of the passes and the list of findings, without
 * the diff. Without its result the notes are the summary.
 */
import { Effect } from "effect"
import { Agent } from "../../agent/Agent.ts"
import type { AgentReport, Brief } from "../../agent/Agent.ts"
import { noUsage } from "../../domain/Analysis.ts"
import type { Usage } from "../../domain/Analysis.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import { reviewSummaryPrompt } from "../../review/SummarisePrompt.ts"
import { readMarkdown } from "../read/ReadMarkdown.ts"

export interface WrittenSummary {
  /** Undefined if the whole review has no summary. */
  readonly text: string | undefined
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
}

export const noSummary: WrittenSummary = { text: undefined, models: [], usage: noUsage }

/** Returns what the passes wrote, without empty notes. */
export const collectNotes = (reports: ReadonlyArray<AgentReport>): ReadonlyArray<string> =>
  reports.flatMap(({ summary = "" }) => (summary.trim() === "" ? [] : [summary.trim()]))

export const writeSummary = Effect.fn("writeSummary")(function* (
  brief: Brief,
  fence: string,
  notes: ReadonlyArray<string>,
  findings: ReadonlyArray<Finding>
): Effect.fn.Return<WrittenSummary, never, Agent | ModelRun> {
  const { models, outcome, usage } = yield* (yield* Agent).query(brief, {
    text: scrubSecrets(reviewSummaryPrompt(notes, findings, fence)),
    showsPrompt: false,
    role: "heavy",
    tool: "publish_summary",
    mayRead: false,
    read: ([input]) => readMarkdown(input)
  })
  if (outcome._tag === "Failed") {
    yield* Effect.logWarning("summary of a review not written, the notes of its passes are used", {
      reason: outcome.error.why
    })
  }
  return { text: outcome._tag === "Returned" ? outcome.value : undefined, models, usage }
})
