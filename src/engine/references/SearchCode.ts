/**
 * `CodeSearch`: git selects files by texts that every match contains, and the thread of the change matches the pattern in their
 * lines, without secrets, so that a pattern cannot test for what is not shown. Names of files, files, lines, bytes and time are
 * limited; what a limit leaves out is `more`.
 */
import { Clock, Effect } from "effect"
import type { CodeHit, CodeHits, CodeSearch, FileHits, SearchedFiles, SearchScope } from "../../agent/CodeSearch.ts"
import { CheckoutError } from "../../vcs/Checkout.ts"
import type { TextSearch } from "../../vcs/Checkout.ts"
import { usesInText } from "../syntax/Definitions.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"

/** Paths that git lists for one search. */
const maxNames = 3000
/** Files that are read for one search, and their size. */
const maxFiles = 40
const maxFileBytes = 262_144
const maxLines = 100
const maxLinesOfFile = 20
const maxListed = 400
const searchMillis = 10_000

export const makeCodeSearch = (change: ChangeThread): CodeSearch => {
  const { run } = change
  return {
    lines: Effect.fnUntraced(function* (files, scope, { text, ignoreCase }) {
      const plan = yield* asCheckout(run("planSearch", text, ignoreCase))
      if ("refused" in plan) return plan
      return yield* searchFiles(change, files, scope, { texts: plan.texts, ignoreCase, words: false }, (_, content) =>
        asCheckout(run("searchText", text, ignoreCase, content, maxLinesOfFile))
      )
    }),
    references: (files, scope, name) =>
      searchFiles(change, files, scope, { texts: [name], ignoreCase: false, words: true }, (path, content) =>
        referencesIn(change, path, content, name)
      ),
    paths: Effect.fnUntraced(function* (files, scope) {
      const found = yield* asCheckout(
        inScope(change, files, scope, yield* files.search.filesUnder(scope.under, maxNames))
      )
      return { paths: found.paths.slice(0, maxListed), more: found.more || found.paths.length > maxListed }
    })
  }
}

/** Returns lines with the name, whatever it is there, if no parser reads the language. */
const referencesIn = Effect.fnUntraced(function* (change: ChangeThread, path: string, text: string, name: string) {
  // The parser has the member in `shop.pay` as a name.
  const last = name.split(/[^\p{L}\p{N}_$]/u).at(-1) ?? ""
  const uses = last === "" ? undefined : yield* usesInText(path, text, [name, last])
  if (uses === undefined) {
    const pattern = `(?:^|[^\\w$])\\Q${name}\\E(?:[^\\w$]|$)`
    return yield* asCheckout(change.run("searchText", pattern, false, text, maxLinesOfFile))
  }
  const kinds = new Map(uses.toReversed().map(({ line, kind }) => [line, kind]))
  const lines = [...kinds.keys()].toSorted((a, b) => a - b)
  const wanted = last === name ? lines.slice(0, maxLinesOfFile) : lines
  const [shown = []] = yield* asCheckout(change.run("showLines", [{ text, lines: wanted }]))
  const named = shown.filter((hit) => last === name || hit.text.includes(name)).slice(0, maxLinesOfFile)
  return named.map((hit): CodeHit => ({ ...hit, kind: kinds.get(hit.line) }))
})

const searchFiles = Effect.fnUntraced(function* (
  change: ChangeThread,
  files: SearchedFiles,
  scope: SearchScope,
  search: Omit<TextSearch, "under">,
  linesIn: (path: string, text: string) => Effect.Effect<ReadonlyArray<CodeHit>, CheckoutError>
): Effect.fn.Return<CodeHits, CheckoutError> {
  const deadline = (yield* Clock.currentTimeMillis) + searchMillis
  const listed = yield* files.search.filesWith({ ...search, under: scope.under }, maxNames)
  const { paths, more } = yield* asCheckout(inScope(change, files, scope, listed))
  const found: Array<FileHits> = []
  let room = maxLines
  let read = 0
  for (const path of paths) {
    if (room <= 0 || read === maxFiles || (yield* Clock.currentTimeMillis) > deadline) {
      return { files: found, more: true }
    }
    read++
    const text = yield* files.read(path, maxFileBytes)
    const hits = text === undefined ? [] : (yield* linesIn(path, text)).slice(0, room)
    room -= hits.length
    if (hits.length > 0) found.push({ path, hits })
  }
  return { files: found, more }
})

/** Applies the glob in the thread, because it is of the model, and what the configuration allows. */
const inScope = Effect.fnUntraced(function* (
  change: ChangeThread,
  { isShown }: SearchedFiles,
  { glob }: SearchScope,
  { paths, more }: { readonly paths: ReadonlyArray<string>; readonly more: boolean }
): Effect.fn.Return<{ readonly paths: ReadonlyArray<string>; readonly more: boolean }, AnalysisError> {
  const matching = glob === undefined ? paths : yield* change.run("matchPaths", glob, paths)
  return { paths: matching.filter(isShown), more }
})

const asCheckout = <A>(effect: Effect.Effect<A, AnalysisError>): Effect.Effect<A, CheckoutError> =>
  Effect.mapError(effect, ({ why }) => new CheckoutError({ reason: "failed", why }))
