/**
 * Summaries of the hunks that compression cut, by the model of `compression.summarize_model_role`: in a few calls, the riskiest files
 * first. A call that fails costs its summaries and a notice, not the review; a provider that refuses requests is waited for.
 */
import { Effect } from "effect"
import { Agent, waitsForProvider } from "../../agent/Agent.ts"
import type { AgentError, Brief } from "../../agent/Agent.ts"
import { addUsage, noUsage } from "../../domain/Analysis.ts"
import type { Usage } from "../../domain/Analysis.ts"
import { summarisePrompt, summaryLines } from "../../review/SummarisePrompt.ts"
import { readMarkdown } from "../read/ReadMarkdown.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { Portion } from "../work/CompressWork.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import { namePaths } from "../read/ReadCoverage.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface Summarised {
  /** Lines for the prompt. */
  readonly lines: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
  readonly notices: ReadonlyArray<Reason>
}

export const noSummaries: Summarised = { lines: [], models: [], usage: noUsage, notices: [] }

const atOnce = 6

interface SummariseInput {
  /** Runs before a model is used. */
  readonly beforeModels: Effect.Effect<void> | undefined
  readonly fence: string
  /** Tokens of all summaries. */
  readonly room: number
}

/** Summarises the parts of a change that are not shown, within `room` tokens. */
export const summarise = Effect.fn("summarise")(function* (
  change: ChangeThread,
  brief: Brief,
  { beforeModels = Effect.void, fence, room }: SummariseInput
): Effect.fn.Return<Summarised, AgentError | AnalysisError, Agent | ModelRun> {
  const { workspace, snapshot } = brief
  if (workspace.modelChain === undefined) return noSummaries
  const agent = yield* Agent
  const { left: unsummarised, portions } = yield* change.run("portions")
  if (portions.length > 0) yield* beforeModels
  const results = yield* Effect.forEach(
    portions,
    ({ text }) =>
      agent.query(brief, {
        text: summarisePrompt(text, fence),
        showsPrompt: false,
        role: snapshot.document.compression.summarize_model_role,
        tool: "publish_summary",
        mayRead: false,
        read: ([input]) => readMarkdown(input)
      }),
    { concurrency: atOnce }
  )
  for (const { outcome } of results) {
    if (outcome._tag === "Failed" && waitsForProvider(outcome.error)) return yield* outcome.error
  }
  const given = results.map(({ outcome }, index) =>
    outcome._tag === "Failed" ? [] : summaryLines(outcome.value, new Set(portions[index]?.paths))
  )
  const summaries = given.flat()
  const tokens = yield* change.run("countTokens", summaries)
  let left = room
  const lines = summaries.filter((_, index) => (left -= (tokens[index] ?? 0) + 1) >= 0)
  const failed = results.filter(({ outcome }) => outcome._tag === "Failed").length
  return {
    lines,
    models: [...new Set(results.flatMap(({ models }) => models))],
    usage: results.map(({ usage }) => usage).reduce(addUsage, noUsage),
    notices: [
      ...(failed === 0 ? [] : [{ _tag: "SummariesMissing", count: failed, total: portions.length } as const]),
      ...withoutSummary(portions, lines, unsummarised)
    ]
  }
})

/** Names files without a summary: no call held them, none described them, or there was no room for the result. */
const withoutSummary = (
  portions: ReadonlyArray<Portion>,
  lines: ReadonlyArray<string>,
  unsummarised: ReadonlyArray<string>
): ReadonlyArray<Reason> => {
  const paths = [...portions.flatMap((portion) => portion.paths), ...unsummarised]
  const missing = paths.filter((path) => !lines.some((line) => line.startsWith(`${path}: `)))
  if (missing.length === 0) return []
  return [{ _tag: "NotSummarised", ...namePaths(missing, missing.length) }]
}
