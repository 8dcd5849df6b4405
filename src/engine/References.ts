/**
 * Uses of public names whose definition the change alters or removes, in files and lines that its diff does not show. They are
 * computed once for a review, within limits of files, names and time, and shown with the files of the definitions.
 */
import { Clock, Effect } from "effect"
import type { Workspace } from "../config/Snapshot.ts"
import { anyGlob } from "../domain/Globs.ts"
import type { Checkout } from "../vcs/Checkout.ts"
import { addedNames, changedNames } from "./ChangedNames.ts"
import type { DefinedSides } from "./ChangedNames.ts"
import { definitionsIn, usesIn } from "./syntax/Definitions.ts"
import { findGrammar } from "./syntax/Grammars.ts"
import type { AnalysisError } from "./threads/AnalysisError.ts"
import type { ChangeThread } from "./threads/ChangeThreads.ts"
import type { FileFacts } from "./work/ReadWork.ts"
import type { CodeReference, NamedPlace } from "./work/ReferenceWork.ts"

const maxChangedFiles = 80
const maxNames = 60
/** Paths that git lists, and files that are read of them. */
const maxListed = 1000
const maxFiles = 40
const maxFileBytes = 262_144
const maxPlaces = 400
const totalMillis = 20_000
const atOnce = 4

/** Finds the references and leaves them in the thread of the change. `readable` has no secrets. A failed read costs only references. */
export const findReferences = Effect.fn("findReferences")(function* (
  change: ChangeThread,
  readable: Checkout,
  files: ReadonlyArray<FileFacts>,
  { review }: Workspace
): Effect.fn.Return<void, AnalysisError> {
  const deadline = (yield* Clock.currentTimeMillis) + totalMillis
  const isOver = Effect.map(Clock.currentTimeMillis, (now) => now > deadline)
  const parsed = yield* Effect.forEach(
    files.filter(({ path }) => findGrammar(path) !== undefined).slice(0, maxChangedFiles),
    (file) => Effect.flatMap(isOver, (over) => (over ? Effect.undefined : namesOf(readable, file))),
    { concurrency: atOnce }
  )
  const sides = parsed.flatMap((side) => side ?? [])
  const moved = new Set(sides.flatMap(({ added }) => added))
  const names = sides.flatMap(({ changed, path }) =>
    changed.flatMap(({ name, change: how }) =>
      how === "removed" && moved.has(name) ? [] : [{ name, change: how, definedIn: path }]
    )
  )
  if (names.length === 0) return
  const used = names.slice(0, maxNames)
  const places: Array<NamedPlace> = []
  const { allow_paths } = review.fetch_extra
  const isShown = allow_paths === undefined ? () => true : anyGlob(allow_paths)
  const found = yield* pathsWith(readable, [...new Set(used.map(({ name }) => name))], files)
  for (const path of found.filter(isShown).slice(0, maxFiles)) {
    if (places.length >= maxPlaces || (yield* isOver)) break
    places.push(...(yield* placesIn(change, readable, path, used)))
  }
  yield* change.run("addReferences", places)
})

/** One file at a time, because all definitions of a large change would stall this thread for long. */
const namesOf = Effect.fnUntraced(function* (readable: Checkout, { path, oldPath, status }: FileFacts) {
  const read = (name: string, at: "head" | "from") =>
    Effect.catch(readable.file(name, at, maxFileBytes), () => Effect.undefined)
  const before = status === "added" ? "" : yield* read(oldPath ?? path, "from")
  const after = status === "deleted" ? "" : yield* read(path, "head")
  if (before === undefined || after === undefined) return undefined
  const [old, now] = [yield* definitionsIn(oldPath ?? path, before), yield* definitionsIn(path, after)]
  if (old === undefined || now === undefined) return undefined
  const sides: DefinedSides = { path, before: old, after: now }
  return { path, changed: changedNames(sides), added: addedNames(sides) }
})

/** Returns files that may use the names: those near the change first, tests last. */
const pathsWith = Effect.fnUntraced(function* (
  readable: Checkout,
  names: ReadonlyArray<string>,
  changed: ReadonlyArray<FileFacts>
) {
  const search = { texts: names, ignoreCase: false, words: true, under: "" }
  const found = yield* Effect.result(readable.search.filesWith(search, maxListed))
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
  readable: Checkout,
  path: string,
  names: ReadonlyArray<Omit<CodeReference, "kind">>
): Effect.fn.Return<ReadonlyArray<NamedPlace>, AnalysisError> {
  const text = yield* Effect.catch(readable.file(path, "head", maxFileBytes), () => Effect.undefined)
  if (text === undefined) return []
  const uses = (yield* usesIn(path, text, [...new Set(names.map(({ name }) => name))])) ?? []
  const wanted = uses.filter(({ kind }) => kind !== "definition")
  const lines = yield* change.run("outsideOfHunks", path, [...new Set(wanted.map(({ line }) => line))])
  const shown = new Map((yield* change.run("showLines", text, lines)).map((hit) => [hit.line, hit.text]))
  return wanted.flatMap(({ name, line, kind }) => {
    const code = shown.get(line)
    if (code === undefined) return []
    return names
      .filter((one) => one.name === name)
      .map((one) => ({ path, line, text: code, reference: { ...one, kind } }))
  })
})
