/**
 * Selects the part of a change that is shown verbatim: all of it within the token limit, else its riskiest hunks and
 * summaries.
 */
import { Effect } from "effect"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Gateway } from "../llm/Gateway.ts"
import type { ModelRun } from "../llm/ModelRun.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import { showDefinitions } from "./ShowDefinitions.ts"
import { noSummaries, summarise } from "./Summarise.ts"
import type { Summarised } from "./Summarise.ts"
import { definitionsAt } from "./syntax/Definitions.ts"
import type { AnalysisError } from "./threads/AnalysisError.ts"
import type { ChangeThread } from "./threads/ChangeThreads.ts"
import type { KeptFile } from "./work/CompressWork.ts"

export interface FittedChange {
  /** Paths of files of which hunks were cut. */
  readonly cut: ReadonlySet<string>
  readonly cutHunks: number
  readonly summaries: Summarised
}

const maxFileBytes = 4_194_304
/** Share of a pass that summaries may take. */
const summaryShare = 0.2
/** Share of a pass that the definitions around hunks may take. */
const definitionShare = 0.25

const nothingCut: FittedChange = { cut: new Set(), cutHunks: 0, summaries: noSummaries }

export const fitChange = Effect.fn("fitChange")(function* (
  change: ChangeThread,
  input: { readonly snapshot: Snapshot; readonly workspace: Workspace; readonly checkout: Checkout },
  room: number
): Effect.fn.Return<FittedChange, CheckoutError | AnalysisError, Gateway | ModelRun> {
  const { checkout, snapshot, workspace } = input
  const { keep_hunks_top_k, context_lines } = snapshot.document.compression
  const tokens = yield* change.run("tokensWithin", room)
  if (tokens !== undefined) {
    yield* showDefinitions(change, checkout, Math.min((room - tokens) / 2, room * definitionShare))
    return nothingCut
  }
  const { kept, cut, cutHunks } = yield* change.run("compress", keep_hunks_top_k)
  // All hunks are within top_k: they are read in several passes.
  if (cut.length === 0) {
    yield* showDefinitions(change, checkout, 0)
    return nothingCut
  }
  const [, summaries] = yield* Effect.all(
    [
      Effect.forEach(kept, (file, index) => showKept(change, checkout, file, index, context_lines), {
        concurrency: atOnce,
        discard: true
      }),
      summarise(change, snapshot, workspace, Math.floor(room * summaryShare))
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
  { path, isAtHead }: KeptFile,
  index: number,
  contextLines: number
): Effect.fn.Return<void, CheckoutError | AnalysisError> {
  const text = isAtHead ? yield* checkout.file(path, "head", maxFileBytes) : undefined
  const target = yield* change.run("showKept", index, text, contextLines)
  if (text === undefined || target === undefined) return
  const chains = yield* definitionsAt(path, text, target.lines)
  yield* change.run("nameKept", index, chains)
})
