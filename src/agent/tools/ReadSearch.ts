/**
 * Searches the files of the reviewed revision, or of a further repository (`alias:path`), for a model. Only files that the
 * configuration allows are searched, and what is shown counts towards the allowance; the content is data for the model.
 */
import { showName } from "../../domain/Text.ts"
import { Effect } from "effect"
import { expandBraces } from "../../domain/Braces.ts"
import type { CheckoutError } from "../../vcs/Checkout.ts"
import type { CodeHits, PatternRefused, SearchedFiles, SearchScope } from "../CodeSearch.ts"
import type { ContextAllowance } from "./ContextAllowance.ts"
import type { RepositoryReader } from "./RepositoryReader.ts"

interface Scoped {
  readonly scope: SearchScope
  readonly files: SearchedFiles
  /** Path as the model names it. */
  readonly shown: (path: string) => string
}

/** Alternatives of a glob, of which each is matched against every path. */
const maxAlternatives = 16

/** Returns what to search, or the refusal as text for the model. */
const scopeOf = (reader: RepositoryReader, given = ""): Scoped | string => {
  const { allowance, checkout } = reader
  const mounted = allowance.mounted(given)
  const path = mounted?.inside ?? given.replace(/^\.?\/|\/$/g, "")
  const wild = path.search(/[*?[{]/)
  const scope = {
    under: wild < 0 ? path : path.slice(0, Math.max(0, path.lastIndexOf("/", wild))),
    glob: wild < 0 ? undefined : path
  }
  if (expandBraces(path, maxAlternatives + 1).length > maxAlternatives)
    return "refused: the glob has too many alternatives"
  const refusal = allowance.takeSearch(scope.under)
  if (refusal !== undefined) return refusal
  if (mounted === undefined) {
    const read = (name: string, maxBytes: number) => checkout.file(name, "head", maxBytes)
    const isShown = (name: string) => allowance.allows(name)
    return { scope, files: { search: checkout.search, read, isShown }, shown: (name) => name }
  }
  const { alias, search, read } = mounted.mount
  const shown = (name: string) => `${alias}:${name}`
  return {
    scope,
    shown,
    files: {
      search,
      read: (name, maxBytes) =>
        Effect.map(read(name, { maxBytes, maxNames: 0 }), (entry) => (entry._tag === "File" ? entry.text : undefined)),
      isShown: (name) => allowance.allows(shown(name))
    }
  }
}

export const searchCode = Effect.fnUntraced(function* (
  reader: RepositoryReader,
  input: {
    readonly pattern: string
    readonly path?: string | undefined
    readonly ignore_case?: boolean | undefined
  }
) {
  const scoped = scopeOf(reader, input.path)
  if (typeof scoped === "string") return scoped
  const pattern = { text: input.pattern, ignoreCase: input.ignore_case === true }
  return yield* showHits(reader.allowance, scoped, reader.code.lines(scoped.files, scoped.scope, pattern))
})

export const findReferences = Effect.fnUntraced(function* (
  reader: RepositoryReader,
  input: { readonly name: string; readonly path?: string | undefined }
) {
  const scoped = scopeOf(reader, input.path)
  if (typeof scoped === "string") return scoped
  return yield* showHits(
    reader.allowance,
    scoped,
    reader.code.references(scoped.files, scoped.scope, input.name.trim())
  )
})

export const listFiles = Effect.fnUntraced(function* (
  reader: RepositoryReader,
  input: { readonly path?: string | undefined }
) {
  const scoped = scopeOf(reader, input.path)
  if (typeof scoped === "string") return scoped
  const found = yield* Effect.result(reader.code.paths(scoped.files, scoped.scope))
  if (found._tag === "Failure") return `not available: ${found.failure.message}`
  const { paths, more } = found.success
  if (paths.length === 0) return "no files"
  return reader.allowance.takeText([
    ...paths.map((path) => showName(scoped.shown(path))),
    ...(more ? ["there are more files; name a folder or a glob"] : [])
  ])
})

const showHits = Effect.fnUntraced(function* (
  allowance: ContextAllowance,
  { shown }: Scoped,
  search: Effect.Effect<CodeHits | PatternRefused, CheckoutError>
) {
  const found = yield* Effect.result(search)
  if (found._tag === "Failure") return `not available: ${found.failure.message}`
  if ("refused" in found.success) return `refused: ${found.success.refused}`
  const { files, more } = found.success
  if (files.length === 0) return more ? `nothing in the first files; ${narrow}` : "nothing found"
  const parts = files.map(({ path, hits }) =>
    allowance.take(shown(path), [
      `${showName(shown(path))}:`,
      ...hits.map(({ line, text, kind }) => `${line}: ${kind === undefined ? "" : `(${kind}) `}${text}`)
    ])
  )
  return [...new Set(parts), ...(more ? [`there is more; ${narrow}`] : [])].join("\n")
})

const narrow = "narrow the search with path"
