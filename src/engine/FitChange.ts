/** What of a change is shown word for word: all of it where it is within the limit of tokens, else its riskiest hunks and summaries. */
import { Effect } from "effect"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Gateway } from "../llm/Gateway.ts"
import { compress, tokensWithin } from "../review/Compress.ts"
import type { FileDiff, Hunk } from "../review/FileDiff.ts"
import { linesAround, withContext } from "../review/HunkContext.ts"
import type { Reach } from "../review/HunkContext.ts"
import { linesOfText, readHunks } from "../review/HunkText.ts"
import { countLinesOf, hunkTokens } from "../review/RenderDiff.ts"
import { scrubFile, scrubFiles } from "../review/Scrub.ts"
import { scrubSecrets } from "../review/Secrets.ts"
import type { Steps } from "../review/Steps.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import { chainsOf, hasDefinitions, showDefinitions, withNames } from "./ShowDefinitions.ts"
import { noSummaries, summarise } from "./Summarise.ts"
import type { Summarised } from "./Summarise.ts"
import { runInTurns } from "./Turns.ts"

export interface FittedChange {
  /** To be shown. */
  readonly files: ReadonlyArray<FileDiff>
  /** The same without the secrets in them. */
  readonly readable: ReadonlyArray<FileDiff>
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
    return yield* whole(yield* showDefinitions(checkout, files, spare))
  }
  const { kept, cut } = yield* runInTurns(compress(files, keep_hunks_top_k))
  // All hunks are within top_k: they are read in several passes.
  if (cut.length === 0) return yield* whole(yield* showDefinitions(checkout, files, 0))
  const wholes = new Map(files.map((file) => [keyOf(file), file]))
  const around = linesAround(context_lines)
  const [shown, summaries] = yield* Effect.all(
    [
      Effect.forEach(kept, (file) => showKept(checkout, file, wholes.get(keyOf(file)) ?? file, around), {
        concurrency: atOnce
      }),
      summarise(snapshot, workspace, cut, Math.floor(room * summaryShare))
    ],
    { concurrency: 2 }
  )
  return { files: shown.map(({ file }) => file), readable: shown.map(({ readable }) => readable), cut, summaries }
})

/** Read and parsed at the same time. */
const atOnce = 4

const whole = (files: ReadonlyArray<FileDiff>) =>
  Effect.map(runInTurns(scrubFiles(files)), (readable): FittedChange => ({
    files,
    readable,
    cut: [],
    summaries: noSummaries
  }))

/** While a parser looks for the definitions around the hunks of a file, secrets are removed from it. */
const showKept = Effect.fnUntraced(function* (
  checkout: Checkout,
  file: FileDiff,
  from: FileDiff,
  reach: (hunk: Hunk) => Reach
): Effect.fn.Return<{ readonly file: FileDiff; readonly readable: FileDiff }, CheckoutError> {
  // The patch of a commit in the middle has other lines around it than the head.
  const text = file.commit === undefined ? yield* checkout.file(file.path, "head", maxFileBytes) : undefined
  yield* runInTurns(readHunks(file))
  const lines = text === undefined ? undefined : yield* runInTurns(linesOfText(text))
  const shown = withContext(file, from, lines, reach)
  const [chains, scrubbed] = yield* Effect.all(
    [
      text === undefined || !hasDefinitions(file) ? Effect.succeed([]) : chainsOf(shown, text),
      runInTurns(scrubAndCount(shown))
    ],
    { concurrency: 2 }
  )
  return { file: withNames(shown, chains), readable: withNames(scrubbed, chains, scrubSecrets) }
})

/** Tokens are counted here, where there is time for it. */
function* scrubAndCount(file: FileDiff): Steps<FileDiff> {
  const scrubbed = yield* scrubFile(file)
  for (const hunk of scrubbed.hunks) yield* hunkTokens(hunk)
  return scrubbed
}

const keyOf = ({ path, commit }: FileDiff): string => `${commit?.index ?? 0}:${path}`

/** Changed lines of the hunks that are shown. */
export const changedLines = (files: ReadonlyArray<FileDiff>): Effect.Effect<number> =>
  runInTurns(countLinesOf(files, (line) => line[0] !== " "))
