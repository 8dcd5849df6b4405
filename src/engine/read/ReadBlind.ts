/**
 * Blind reading: what a model reads of the change without what its author writes about it. Comments and texts for people are removed from the code
 * by parsers; everything else that the author writes (title, description, messages, issues, history) is not shown. Files without a parser, and those
 * that it does not understand, cannot be read blind.
 */
import { Effect } from "effect"
import type { FramedFile } from "../../domain/Coverage.ts"
import { riskTier } from "../../review/Risk.ts"
import { CheckoutError } from "../../vcs/Checkout.ts"
import type { Checkout } from "../../vcs/Checkout.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import { proseIn } from "../syntax/Definitions.ts"
import { findGrammar } from "../syntax/Grammars.ts"
import { inMessages } from "../threads/Messages.ts"
import type { BlindTarget, ParsedProse } from "../work/BlindWork.ts"
import { scrub } from "./ScrubbedCheckout.ts"

const maxFileBytes = 1_048_576
/** Files of a change that are prepared; the first ones. */
const maxFiles = 1_000

/** Files that are named as not read blind; the first ones. */
const maxFramed = 2_000

/** Prepares files in the thread of the change. Returns the paths of those that can be read blind. */
export const readBlind = Effect.fn("readBlind")(function* (
  change: ChangeThread,
  checkout: Checkout,
  paths: ReadonlyArray<string>,
  isWhole = false
): Effect.fn.Return<ReadonlySet<string>, CheckoutError | AnalysisError> {
  const parsed = paths.filter((path) => findGrammar(path) !== undefined).slice(0, maxFiles)
  const found = new Set(parsed)
  for (const targets of inMessages(yield* change.run("blindTargets", parsed), () => 0)) {
    const heads = yield* parseSide(checkout, targets, "head")
    const froms = yield* parseSide(checkout, targets, "from")
    for (const [at, { path }] of targets.entries()) {
      const [head, from] = [heads[at], froms[at]]
      const isKept =
        head !== "unknown" && from !== "unknown" && (yield* change.run("keepBlind", path, { head, from, isWhole }))
      if (!isKept) found.delete(path)
    }
  }
  return found
})

/** Undefined for files that do not exist at that side; `unknown` where one is not a text, too large, or not understood. */
const parseSide = Effect.fnUntraced(function* (
  checkout: Checkout,
  targets: ReadonlyArray<BlindTarget>,
  side: "head" | "from"
): Effect.fn.Return<ReadonlyArray<ParsedProse | "unknown" | undefined>, CheckoutError> {
  const absent = side === "head" ? "deleted" : "added"
  const files = yield* Effect.forEach(
    targets,
    ({ lines, oldPath, path, status }) => {
      if (status === absent) return Effect.undefined
      const name = side === "head" ? path : (oldPath ?? path)
      return Effect.map(checkout.file(name, side, maxFileBytes), (text) => ({
        path: name,
        text,
        lines: side === "head" ? lines : []
      }))
    },
    { concurrency: targets.length }
  )
  const read = files.flatMap((file) => (file?.text === undefined ? [] : [{ ...file, text: file.text }]))
  const prose = (yield* proseIn(checkout, read)).values()
  return files.map((file) => {
    if (file === undefined) return undefined
    const found = file.text === undefined ? undefined : prose.next().value
    return file.text === undefined || found === undefined ? "unknown" : { ...found, text: file.text }
  })
})

/**
 * A checkout whose files have no secrets and say nothing to readers. A file that cannot be read like that is shown in its form before the change; a
 * new one, and who wrote which line, is not shown.
 */
export const blindCheckout = (change: ChangeThread, checkout: Checkout): Checkout => {
  const asCheckout = Effect.mapError(({ why }: AnalysisError) => new CheckoutError({ reason: "failed", why }))
  const hidden = Effect.fnUntraced(function* (path: string, text: string | undefined) {
    if (text === undefined || findGrammar(path) === undefined) return undefined
    const [found] = yield* proseIn(checkout, [{ path, text, lines: [] }])
    if (found === undefined || found.marks === null) return undefined
    return yield* asCheckout(change.run("hideProse", text, found.marks))
  })
  return {
    ...checkout,
    blobs: undefined,
    commits: Effect.undefined,
    messages: Effect.succeed([]),
    blame: () => Effect.succeed([]),
    file: Effect.fnUntraced(function* (path, at, maxBytes) {
      const text = yield* checkout.file(path, at, maxBytes)
      const shown =
        at === "rules" ? text : ((yield* hidden(path, text)) ?? (yield* checkout.file(path, "from", maxBytes)))
      return shown === undefined ? undefined : yield* asCheckout(scrub(change, shown))
    })
  }
}

type BlindMode = "off" | "auto" | "always"

export interface BlindFiles {
  /** Paths of the files that are read blind. */
  readonly paths: ReadonlySet<string>
  /** Files that were to be read blind and are not. */
  readonly framed: ReadonlyArray<FramedFile>
}

/** Returns the files that a reading of this mode does not frame: with `auto` those of the highest risk. */
export const blindWanted = (mode: BlindMode, paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  mode === "off" ? [] : mode === "always" ? paths : paths.filter((path) => riskTier({ path }) === 0)

/**
 * Selects and prepares the files that are read blind. Where one pass shows the change and all of it can be read blind, it is: two passes would cost
 * more than the author's text is worth.
 */
export const selectBlind = Effect.fn("selectBlind")(function* (
  change: ChangeThread,
  checkout: Checkout,
  mode: BlindMode,
  files: { readonly paths: ReadonlyArray<string>; readonly isOnePass: boolean; readonly isWhole: boolean }
): Effect.fn.Return<BlindFiles, CheckoutError | AnalysisError> {
  const wanted = blindWanted(mode, files.paths)
  if (wanted.length === 0) return { paths: new Set(), framed: [] }
  const isAll = files.isOnePass && files.paths.every((path) => findGrammar(path) !== undefined)
  const found = yield* readBlind(change, checkout, isAll ? files.paths : wanted, files.isWhole)
  const paths = new Set(
    isAll && found.size === files.paths.length ? files.paths : wanted.filter((path) => found.has(path))
  )
  return { paths, framed: framedFiles(wanted, paths) }
})

const framedFiles = (wanted: ReadonlyArray<string>, paths: ReadonlySet<string>): ReadonlyArray<FramedFile> => {
  let parsed = 0
  const framed = wanted.flatMap((path): ReadonlyArray<FramedFile> => {
    const hasGrammar = findGrammar(path) !== undefined
    if (hasGrammar) parsed++
    if (paths.has(path)) return []
    return [{ path, reason: hasGrammar ? (parsed > maxFiles ? "limit" : "not_parsed") : "no_grammar" }]
  })
  return framed.slice(0, maxFramed)
}
