/**
 * Uses of public names whose definition the change alters or removes, in files and lines that its diff does not show. They are
 * computed once for a review, within limits of files, names and time, and shown with the files of the definitions.
 */
import { Clock, Effect } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import { anyGlob } from "../../domain/Globs.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import { addedNames, changedNames } from "./ChangedNames.ts"
import type { ChangedName } from "./ChangedNames.ts"
import type { CodeHit } from "../../agent/CodeSearch.ts"
import type { NameUse } from "../syntax/Definition.ts"
import { definitionsIn, usesIn } from "../syntax/Definitions.ts"
import type { SourceFile } from "../syntax/Definitions.ts"
import { findGrammar } from "../syntax/Grammars.ts"
import { inMessages, messageItems } from "../threads/Messages.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { FileFacts } from "../work/ReadWork.ts"
import type { CodeReference, NamedPlace } from "../work/ReferenceWork.ts"

const maxChangedFiles = 80
const maxNames = 60
/** Paths that git lists, and files that are searched of them. */
const maxListed = 1000
const maxFiles = 40
const maxFileBytes = 262_144
const maxPlaces = 400
const totalMillis = 20_000

/** The references of a review, for its record: they are found from what is known of files, which the review need not read. */
export interface KeptReferences {
  /** References of a recorded review, which are not searched again. */
  readonly recordedReferences?: ReadonlyArray<NamedPlace> | undefined
  /** Receives what is found. */
  readonly keepReferences?: ((places: ReadonlyArray<NamedPlace>) => void) | undefined
}

/** A public name whose definition the change alters or removes. */
export interface NamedDefinition {
  readonly path: string
  readonly name: string
}

/** Returns the names that change. Finds the references and leaves them in the thread of the change. A failed read costs only references. */
export const findReferences = Effect.fn("findReferences")(function* (
  change: ChangeThread,
  checkout: Checkout,
  files: ReadonlyArray<FileFacts>,
  { review }: Workspace,
  { keepReferences, recordedReferences }: KeptReferences
): Effect.fn.Return<ReadonlyArray<NamedDefinition>, AnalysisError> {
  const { allow_paths } = review.fetch_extra
  const isShown = allow_paths === undefined ? () => true : anyGlob(allow_paths)
  const recorded = recordedReferences?.filter(({ path }) => isShown(path))
  const { names, places } =
    recorded === undefined
      ? yield* searchReferences(change, checkout, files, isShown)
      : { names: recorded.map(({ reference }) => reference), places: recorded }
  keepReferences?.(places)
  if (places.length > 0) yield* change.run("addReferences", places)
  const distinct = new Map(names.map(({ definedIn: path, name }) => [JSON.stringify([path, name]), { path, name }]))
  return [...distinct.values()]
})

/** Files are parsed as they are; names with a secret in them are omitted, and the lines that are shown have none. */
const searchReferences = Effect.fnUntraced(function* (
  change: ChangeThread,
  checkout: Checkout,
  files: ReadonlyArray<FileFacts>,
  isShown: (path: string) => boolean
): Effect.fn.Return<
  { readonly names: ReadonlyArray<UsedName>; readonly places: ReadonlyArray<NamedPlace> },
  AnalysisError
> {
  const deadline = (yield* Clock.currentTimeMillis) + totalMillis
  const isOver = Effect.map(Clock.currentTimeMillis, (now) => now > deadline)
  const filesAt: FilesAt = (paths, at) => sourcesAt(checkout, paths, at, isOver)
  const names = yield* namesOf(
    filesAt,
    files.filter(({ path }) => findGrammar(path) !== undefined).slice(0, maxChangedFiles)
  )
  if (names.length === 0) return { names, places: [] }
  const wanted = [...new Set(names.map(({ name }) => name))]
  const found = yield* pathsWith(checkout, wanted, files)
  const sources = yield* filesAt(found.filter(isShown).slice(0, maxFiles), "head")
  const places: Array<NamedPlace> = []
  for (let at = 0; at < sources.length && places.length < maxPlaces && !(yield* isOver); at += messageItems) {
    for (const one of yield* placesIn(change, sources.slice(at, at + messageItems), wanted, names)) {
      if (places.length < maxPlaces) places.push(...one)
    }
  }
  return { names, places }
})

type FilesAt = (paths: ReadonlyArray<string>, at: "head" | "from") => Effect.Effect<ReadonlyArray<SourceFile>>

/** Files that are read only where their content is not known, and while there is time. Those that are missing or too large have no text. */
const sourcesAt = Effect.fnUntraced(function* (
  { blobs, file }: Checkout,
  paths: ReadonlyArray<string>,
  at: "head" | "from",
  isOver: Effect.Effect<boolean>
): Effect.fn.Return<ReadonlyArray<SourceFile>> {
  const inTime = (read: Effect.Effect<string | undefined, CheckoutError>) =>
    Effect.flatMap(isOver, (over) => (over ? Effect.undefined : orUndefined(read)))
  if (blobs === undefined) return paths.map((path) => ({ path, text: inTime(file(path, at, maxFileBytes)) }))
  const found = (yield* orUndefined(blobs.find(paths, at))) ?? []
  return paths.map((path, index) => {
    const blob = found[index]
    return blob === undefined || blob.bytes > maxFileBytes
      ? { path, text: Effect.undefined }
      : { path, key: blob.id, index: blobs.index, text: inTime(blobs.read(blob.id, maxFileBytes)) }
  })
})

const orUndefined = <A>(read: Effect.Effect<A, CheckoutError>): Effect.Effect<A | undefined> =>
  Effect.catch(read, () => Effect.undefined)

type UsedName = Omit<CodeReference, "kind">

interface FileNames {
  readonly path: string
  readonly changed: ReadonlyArray<ChangedName>
  readonly added: ReadonlyArray<string>
}

/** Returns the names whose definition changes or disappears in these files, the first ones. */
const namesOf = Effect.fnUntraced(function* (filesAt: FilesAt, files: ReadonlyArray<FileFacts>) {
  const { added = [], others = [] } = Object.groupBy(files, ({ status }) => (status === "added" ? status : "others"))
  const paths = others.map(({ path }) => path)
  const before = yield* definitionsIn(
    yield* filesAt(
      others.map(({ oldPath, path }) => oldPath ?? path),
      "from"
    )
  )
  const after = yield* definitionsIn(yield* filesAt(paths, "head"))
  const sides = others.flatMap(({ path, status }, at): ReadonlyArray<FileNames> => {
    const [old, now] = [before[at], status === "deleted" ? [] : after[at]]
    if (old === undefined || now === undefined) return []
    const both = { before: old, after: now }
    return [{ path, changed: changedNames(both), added: addedNames(both) }]
  })
  const removed = removedNames(sides)
  if (removed.size > 0) {
    const sources = yield* filesAt(
      added.map(({ path }) => path),
      "head"
    )
    yield* Effect.forEach(sources, (source) => dropMoved(source, removed), { concurrency: messageItems, discard: true })
  }
  return sides
    .flatMap(({ changed, path }) =>
      changed.flatMap(({ name, change: how }): ReadonlyArray<UsedName> =>
        (how === "removed" && !removed.has(name)) || scrubSecrets(name) !== name
          ? []
          : [{ name, change: how, definedIn: path }]
      )
    )
    .slice(0, maxNames)
})

/** Returns names that are removed, without those that another of the files defines now. */
const removedNames = (sides: ReadonlyArray<FileNames>): Set<string> => {
  const removed = sides.flatMap(({ changed }) =>
    changed.flatMap(({ name, change }) => (change === "removed" ? name : []))
  )
  const moved = new Set(sides.flatMap(({ added }) => added))
  return new Set(removed.filter((name) => !moved.has(name)))
}

/** Drops names that an added file defines. Most added files contain no such name and are not parsed. */
const dropMoved = Effect.fnUntraced(function* (source: SourceFile, removed: Set<string>) {
  const text = yield* source.text
  if (text === undefined || ![...removed].some((name) => text.includes(name))) return
  const [after = []] = yield* definitionsIn([{ ...source, text: Effect.succeed(text) }])
  for (const name of addedNames({ before: [], after })) removed.delete(name)
})

/** Returns files that may use the names: those near the change first, tests last. */
const pathsWith = Effect.fnUntraced(function* (
  checkout: Checkout,
  names: ReadonlyArray<string>,
  changed: ReadonlyArray<FileFacts>
) {
  const search = { texts: names, ignoreCase: false, words: true, under: "" }
  const found = yield* Effect.result(checkout.search.filesWith(search, maxListed))
  if (found._tag === "Failure") {
    yield* Effect.logWarning("references of changed names not searched", { error: found.failure.message })
    return []
  }
  const folders = new Set(changed.map(({ path }) => path.slice(0, path.lastIndexOf("/") + 1)))
  const distance = (path: string): number =>
    (folders.has(path.slice(0, path.lastIndexOf("/") + 1)) ? 0 : 1) + (/test|spec/i.test(path) ? 2 : 0)
  return found.success.paths
    .filter((path) => findGrammar(path) !== undefined)
    .toSorted((a, b) => distance(a) - distance(b))
})

/** Returns the places in each of the files. Only files with lines that are shown are read. */
const placesIn = Effect.fnUntraced(function* (
  change: ChangeThread,
  sources: ReadonlyArray<SourceFile>,
  wanted: ReadonlyArray<string>,
  names: ReadonlyArray<UsedName>
) {
  const found = (yield* usesIn(sources, wanted)).map((uses = []) => uses.filter(({ kind }) => kind !== "definition"))
  const outside = yield* change.run(
    "outsideOfHunks",
    sources.map(({ path }, at) => ({ path, lines: [...new Set((found[at] ?? []).map(({ line }) => line))] }))
  )
  const texts = yield* Effect.forEach(
    sources,
    ({ text }, at) => ((outside[at] ?? []).length === 0 ? Effect.undefined : text),
    {
      concurrency: messageItems
    }
  )
  const read = sources.flatMap(({ path }, at) => {
    const text = texts[at]
    return text === undefined ? [] : [{ path, text, uses: found[at] ?? [], lines: outside[at] ?? [] }]
  })
  const places: Array<ReadonlyArray<NamedPlace>> = []
  for (const some of inMessages(read, ({ text }) => text.length)) {
    const shown = yield* change.run(
      "showLines",
      some.map(({ lines, text }) => ({ lines, text }))
    )
    places.push(...some.map(({ path, uses }, at) => toPlaces(path, uses, shown[at] ?? [], names)))
  }
  return places
})

/** Returns the uses in lines that are shown. */
const toPlaces = (
  path: string,
  uses: ReadonlyArray<NameUse>,
  hits: ReadonlyArray<CodeHit>,
  names: ReadonlyArray<UsedName>
): ReadonlyArray<NamedPlace> => {
  const shown = new Map(hits.map((hit) => [hit.line, hit.text]))
  return uses.flatMap(({ name, line, kind }) => {
    const text = shown.get(line)
    if (text === undefined) return []
    return names
      .filter((one) => one.name === name)
      .map((one): NamedPlace => ({ path, line, text, reference: { ...one, kind } }))
  })
}
