/**
 * Selects the part of a change that is shown verbatim: all of it if its passes can hold it (`review.max_passes`), else its riskiest
 * hunks and files, and summaries of the others.
 */
import { Effect } from "effect"
import { Agent, waitsForProvider } from "../../agent/Agent.ts"
import type { AgentError, Brief } from "../../agent/Agent.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import { computeCapacity, passSize } from "../../review/PassSize.ts"
import { showDefinitions } from "../references/ShowDefinitions.ts"
import { definitionsAt } from "../syntax/Definitions.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { KeptFile, Portion } from "../work/CompressWork.ts"
import { addUsage, noUsage } from "../../domain/Analysis.ts"
import type { Usage } from "../../domain/Analysis.ts"
import { summarisePrompt, summaryLines } from "../../review/SummarisePrompt.ts"
import { readMarkdown } from "../read/ReadMarkdown.ts"
import { namePaths } from "../read/ReadCoverage.ts"
import type { Reason } from "../../domain/Reason.ts"

/**
 * Summaries of the hunks that compression cut, by the model of `compression.summarize_model_role`: in a few calls, the riskiest files
 * first. A call that fails costs its summaries and a notice, not the review; a provider that refuses requests is waited for.
 */

interface Summarised {
  /** Lines for the prompt. */
  readonly lines: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
  readonly notices: ReadonlyArray<Reason>
}

const noSummaries: Summarised = { lines: [], models: [], usage: noUsage, notices: [] }

const maxConcurrentSummaries = 6

interface SummariseInput {
  /** Runs before a model is used. */
  readonly beforeModels: Effect.Effect<void> | undefined
  readonly fence: string
  /** Tokens of all summaries. */
  readonly room: number
}

/** Summarises the parts of a change that are not shown, within `room` tokens. */
const summarise = Effect.fn("summarise")(function* (
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
    { concurrency: maxConcurrentSummaries }
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

export interface FittedChange {
  /** Paths of files of which hunks were cut. */
  readonly cut: ReadonlySet<string>
  readonly cutHunks: number
  readonly summaries: Summarised
}

const maxFileBytes = 4_194_304
/** Share of a pass that summaries may take. */
const summaryShare = 0.2
/** Tokens of the definitions around the hunks of a change of one pass; those of a larger change are only named. */
const definitionTokens = 4_000
/** Share of the passes that kept hunks may take before context is added to them. */
const contextShare = 0.85

const nothingCut: FittedChange = { cut: new Set(), cutHunks: 0, summaries: noSummaries }

interface FitInput {
  /** Runs before a model is used. */
  readonly beforeModels: Effect.Effect<void> | undefined
  readonly fence: string
  /** Tokens of a pass. */
  readonly room: number
  readonly maxPasses: number
}

export const fitChange = Effect.fn("fitChange")(function* (
  change: ChangeThread,
  brief: Brief,
  { beforeModels, fence, maxPasses, room }: FitInput
): Effect.fn.Return<FittedChange, AgentError | CheckoutError | AnalysisError, Agent | ModelRun> {
  const { checkout, snapshot } = brief
  const { keep_hunks_top_k, context_lines } = snapshot.document.compression
  const capacity = computeCapacity(room, maxPasses)
  const tokens = yield* change.run("tokensWithin", capacity)
  if (tokens !== undefined) {
    const isSmall = passSize(tokens, room, maxPasses).passes === 1
    yield* showDefinitions(change, checkout, isSmall ? Math.min((room - tokens) / 2, definitionTokens) : 0)
    return nothingCut
  }
  const summaryRoom = Math.floor(room * summaryShare)
  const { kept, cut, cutHunks } = yield* change.run(
    "compress",
    keep_hunks_top_k,
    Math.floor(computeCapacity(room - summaryRoom, maxPasses) * contextShare)
  )
  const [, summaries] = yield* Effect.all(
    [
      Effect.forEach(kept, (file, index) => showKept(change, checkout, file, index, context_lines), {
        concurrency: atOnce,
        discard: true
      }),
      summarise(change, brief, { fence, room: summaryRoom, beforeModels })
    ],
    { concurrency: 2 }
  )
  yield* change.run("showCompressed")
  return { cut: new Set(cut), cutHunks, summaries }
})

/** Read and parsed at the same time. */
const atOnce = 4

/** While a parser looks for the definitions around the hunks of a file, the next one is prepared. */
const showKept = Effect.fnUntraced(function* (
  change: ChangeThread,
  checkout: Checkout,
  { path, hasContext }: KeptFile,
  index: number,
  contextLines: number
): Effect.fn.Return<void, CheckoutError | AnalysisError> {
  const text = hasContext ? yield* checkout.file(path, "head", maxFileBytes) : undefined
  const target = yield* change.run("showKept", index, text, contextLines)
  if (text === undefined || target === undefined) return
  const chains = yield* definitionsAt(checkout, path, text, target.lines)
  yield* change.run("nameKept", index, chains)
})
