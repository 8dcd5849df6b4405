/**
 * Uses of public names whose definition the change alters or removes, in files and lines that its diff does not show. They are
 * computed once for a review, within limits of files, names and time, and shown with the files of the definitions.
 */
import { Clock, Effect } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import { anyGlob } from "../../domain/Globs.ts"
import { scrubSecrets } from "../../review/Secrets.ts"
import type { Checkout } from "../../vcs/Checkout.ts"
import { addedNames, changedNames } from "./ChangedNames.ts"
import type { ChangedName, DefinedSides } from "./ChangedNames.ts"
import { definitionsIn, usesIn } from "../syntax/Definitions.ts"
import { findGrammar } from "../syntax/Grammars.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { FileFacts } from "../work/ReadWork.ts"
import type { CodeReference, NamedPlace } from "../work/ReferenceWork.ts"

const maxChangedFiles = 80
const maxNames = 60
/** Paths that git lists, and files that are read of them. */
const maxListed = 1000
const maxFiles = 40
const maxFileBytes = 262_144
const maxPlaces = 400
const totalMillis = 20_000
const atOnce = 4

/**
 * Finds the references and leaves them in the thread of the change. Files are parsed as they are; names with a secret in them are omitted,
 * and the lines that are shown have none. A failed read costs only references.
 */
export const findReferences = Effect.fn("findReferences")(function* (
  change: ChangeThread,
  checkout: Checkout,
  files: ReadonlyArray<FileFacts>,
  { review }: Workspace
): Effect.fn.Return<void, AnalysisError> {
  const deadline = (yield* Clock.currentTimeMillis) + totalMillis
  const isOver = Effect.map(Clock.currentTimeMillis, (now) => now > deadline)
  const parsed = files.filter(({ path }) => findGrammar(path) !== undefined).slice(0, maxChangedFiles)
  const forEach = <A>(some: ReadonlyArray<FileFacts>, read: (file: FileFacts) => Effect.Effect<A>) =>
    Effect.forEach(some, (file) => Effect.flatMap(isOver, (over) => (over ? Effect.undefined : read(file))), {
      concurrency: atOnce
    })
  const { added = [], others = [] } = Object.groupBy(parsed, ({ status }) => (status === "added" ? status : "others"))
  const sides = (yield* forEach(others, (file) => namesOf(checkout, file))).flatMap((side) => side ?? [])
  const removed = removedNames(sides)
  yield* forEach(added, (file) => dropMoved(checkout, file, removed))
  const names = sides.flatMap(({ changed, path }) =>
    changed.flatMap(({ name, change: how }) =>
      (how === "removed" && !removed.has(name)) || scrubSecrets(name) !== name
        ? []
        : [{ name, change: how, definedIn: path }]
    )
  )
  if (names.length === 0) return
  const used = names.slice(0, maxNames)
  const { allow_paths } = review.fetch_extra
  const isShown = allow_paths === undefined ? () => true : anyGlob(allow_paths)
  const found = yield* pathsWith(checkout, [...new Set(used.map(({ name }) => name))], files)
  const paths = found.filter(isShown).slice(0, maxFiles)
  const places: Array<NamedPlace> = []
  for (let at = 0; at < paths.length && places.length < maxPlaces && !(yield* isOver); at += atOnce) {
    const some = yield* Effect.forEach(paths.slice(at, at + atOnce), (path) => placesIn(change, checkout, path, used), {
      concurrency: atOnce
    })
    for (const one of some) if (places.length < maxPlaces) places.push(...one)
  }
  yield* change.run("addReferences", places)
})

const readOrUndefined = (checkout: Checkout, path: string, at: "head" | "from") =>
  Effect.catch(checkout.file(path, at, maxFileBytes), () => Effect.undefined)

interface FileNames {
  readonly path: string
  readonly changed: ReadonlyArray<ChangedName>
  readonly added: ReadonlyArray<string>
}

/** One file at a time, because all definitions of a large change would stall this thread for long. */
const namesOf = Effect.fnUntraced(function* (checkout: Checkout, { path, oldPath, status }: FileFacts) {
  const before = yield* readOrUndefined(checkout, oldPath ?? path, "from")
  const after = status === "deleted" ? "" : yield* readOrUndefined(checkout, path, "head")
  if (before === undefined || after === undefined) return undefined
  const [old, now] = [yield* definitionsIn(oldPath ?? path, before), yield* definitionsIn(path, after)]
  if (old === undefined || now === undefined) return undefined
  const sides: DefinedSides = { path, before: old, after: now }
  return { path, changed: changedNames(sides), added: addedNames(sides) } satisfies FileNames
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
const dropMoved = Effect.fnUntraced(function* (checkout: Checkout, { path }: FileFacts, removed: Set<string>) {
  if (removed.size === 0) return
  const text = yield* readOrUndefined(checkout, path, "head")
  if (text === undefined || ![...removed].some((name) => text.includes(name))) return
  const after = yield* definitionsIn(path, text)
  for (const name of addedNames({ path, before: [], after: after ?? [] })) removed.delete(name)
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

const placesIn = Effect.fnUntraced(function* (
  change: ChangeThread,
  checkout: Checkout,
  path: string,
  names: ReadonlyArray<Omit<CodeReference, "kind">>
): Effect.fn.Return<ReadonlyArray<NamedPlace>, AnalysisError> {
  const text = yield* readOrUndefined(checkout, path, "head")
  if (text === undefined) return []
  const uses = (yield* usesIn(path, text, [...new Set(names.map(({ name }) => name))])) ?? []
  const wanted = uses.filter(({ kind }) => kind !== "definition")
  const lines = yield* change.run("outsideOfHunks", path, [...new Set(wanted.map(({ line }) => line))])
  if (lines.length === 0) return []
  const shown = new Map((yield* change.run("showLines", text, lines)).map((hit) => [hit.line, hit.text]))
  return wanted.flatMap(({ name, line, kind }) => {
    const code = shown.get(line)
    if (code === undefined) return []
    return names
      .filter((one) => one.name === name)
      .map((one) => ({ path, line, text: code, reference: { ...one, kind } }))
  })
})
