/** What of a change is shown word for word: all of it where it is within the limit of tokens, else its riskiest hunks and summaries. */
import { Effect } from "effect"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Gateway } from "../llm/Gateway.ts"
import { compress, tokensWithin } from "../review/Compress.ts"
import type { FileDiff } from "../review/FileDiff.ts"
import { linesAround, withContext } from "../review/HunkContext.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import { showDefinitions } from "./ShowDefinitions.ts"
import { noSummaries, summarise } from "./Summarise.ts"
import type { Summarised } from "./Summarise.ts"
import { runInTurns } from "./Turns.ts"

export interface FittedChange {
  /** To be shown. */
  readonly files: ReadonlyArray<FileDiff>
  /** Files of which hunks were cut, with those hunks. */
  readonly cut: ReadonlyArray<FileDiff>
  readonly summaries: Summarised
}

const maxFileBytes = 4_194_304
/** Share of a pass that summaries may take. */
const summaryShare = 0.2
/** Share of a pass that the definitions around hunks may take. */
const definitionShare = 0.25

export const fitChange = Effect.fn("fitChange")(function* (
  input: { readonly snapshot: Snapshot; readonly workspace: Workspace; readonly checkout: Checkout },
  files: ReadonlyArray<FileDiff>,
  room: number
): Effect.fn.Return<FittedChange, CheckoutError, Gateway> {
  const { checkout, snapshot, workspace } = input
  const { keep_hunks_top_k, context_lines } = snapshot.document.compression
  const tokens = yield* runInTurns(tokensWithin(files, room))
  if (tokens !== undefined) {
    const spare = Math.min((room - tokens) / 2, room * definitionShare)
    return { files: yield* showDefinitions(checkout, files, spare), cut: [], summaries: noSummaries }
  }
  const { kept, cut } = yield* runInTurns(compress(files, keep_hunks_top_k))
  // All hunks are within top_k: they are read in several passes.
  if (cut.length === 0) return { files: yield* showDefinitions(checkout, files, 0), cut, summaries: noSummaries }
  const wholes = new Map(files.map((file) => [keyOf(file), file]))
  const shown: Array<FileDiff> = []
  for (const file of kept) {
    // The patch of a commit in the middle has other lines around it than the head.
    const text = file.commit === undefined ? yield* checkout.file(file.path, "head", maxFileBytes) : undefined
    shown.push(withContext(file, wholes.get(keyOf(file)) ?? file, text?.split("\n"), linesAround(context_lines)))
  }
  const summaries = yield* summarise(snapshot, workspace, cut, Math.floor(room * summaryShare))
  return { files: yield* showDefinitions(checkout, shown, 0), cut, summaries }
})

const keyOf = ({ path, commit }: FileDiff): string => `${commit?.index ?? 0}:${path}`

/** Changed lines of the hunks that are shown. */
export const changedLines = (file: FileDiff): number =>
  file.hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line[0] !== " ").length, 0)
