/** Makes a `Checkout` of a `FileSource`. Nothing is fetched before it is read, and files only after their sizes are known. */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Scope, Stream } from "effect"
import { decodeText } from "../../domain/TextContent.ts"
import { CheckoutError } from "../Checkout.ts"
import type { ChangedPath, Checkout, FoundPaths, RangeCommit, RevisionSearch } from "../Checkout.ts"
import { writeChosenTrees } from "../git/ChosenTrees.ts"
import { decodeDiff } from "../git/DecodeDiff.ts"
import { diffStream } from "../git/DiffStream.ts"
import { io } from "../git/Mirror.ts"
import type { TreePath } from "../git/TreeWalk.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { searchFolder } from "./SearchFolder.ts"
import type { FileSide, FileSource, SourceStep } from "./FileSource.ts"
import { makeScratchObjects } from "./ScratchObjects.ts"
import type { ScratchObjects } from "./ScratchObjects.ts"

export interface SourceCheckoutOptions {
  /** Folder of scratch folders; see `makeScratchObjects`. */
  readonly root: string
  readonly limits: () => ProcessLimits
  /** Overrides the timeout of a reply of Perforce. */
  readonly replyMillis?: number | undefined
}

/** Maximum size of all files of a branch that are fetched for a search or a work tree. */
const maxTreeBytes = 536_870_912
/** Selects the format of object ids in the scratch repository. */
const anyCommit = "0".repeat(40)
const fileMode = "100644"
/** Maximum number of copies in a diff: git compares each with each added file. */
const maxCopies = 200

export const checkOutSource = Effect.fnUntraced(function* (
  source: FileSource,
  { limits, root }: SourceCheckoutOptions
): Effect.fn.Return<Checkout, CheckoutError, Scope.Scope> {
  const scratch = yield* makeScratchObjects(root, limits())
  /** Ids of files that were read, by side. */
  const stored = new Map<string, string>()
  const tree = yield* Effect.cached(exportHead(source, scratch))
  const scope = yield* Effect.scope
  return {
    head: source.head,
    from: source.from,
    directory: tree,
    changes: source.changes,
    sizes: source.sizes,
    diff: (paths, exactRenames) => diffOf(source, scratch, stored, paths, exactRenames),
    messages: source.messages,
    commits: Effect.flatMap(source.steps, (steps) =>
      steps === undefined ? Effect.undefined : Effect.forEach(steps, toCommit(scratch, scope))
    ),
    file: Effect.fnUntraced(function* (path, at, maxBytes) {
      if (!isProper(path)) return undefined
      const id = stored.get(keyOf({ path, at: at === "head" ? "head" : "from" }))
      const content = id === undefined ? yield* source.file(path, at, maxBytes) : yield* scratch.read(id)
      return content === undefined || content.length > maxBytes ? undefined : decodeText(content)
    }),
    list: (directory, at, limit) =>
      directory === "" || isProper(directory) ? source.list(directory, at, limit) : Effect.succeed([]),
    blame: (path, start, end) => (isProper(path) ? source.blame(path, start, end) : Effect.succeed([])),
    search: searchOf(scratch, tree)
  }
})

/** Opens the step on its first use. */
const toCommit = (scratch: ScratchObjects, scope: Scope.Scope) =>
  Effect.fnUntraced(function* ({ id, open, title }: SourceStep): Effect.fn.Return<RangeCommit> {
    const opened = yield* Effect.cached(Effect.provideService(open, Scope.Scope, scope))
    const stored = new Map<string, string>()
    return {
      id,
      title,
      changes: (maxPaths) => Effect.flatMap(opened, (step) => step.changes(maxPaths)),
      sizes: (paths) => Effect.flatMap(opened, (step) => step.sizes(paths)),
      diff: (paths, exactRenames) =>
        Stream.unwrap(Effect.map(opened, (step) => diffOf(step, scratch, stored, paths, exactRenames)))
    }
  })

const keyOf = ({ at, path }: FileSide): string => `${at}:${path}`

/** Relative, without dot segments and controls. */
export const isProper = (path: string): boolean =>
  path.length <= 4096 &&
  !/\p{Cc}/u.test(path) &&
  path.split("/").every((part) => part !== "" && part !== "." && part !== "..")

const exportHead = Effect.fnUntraced(function* (source: FileSource, { folder }: ScratchObjects) {
  const directory = join(folder, "tree")
  yield* io("checkout", () => mkdir(directory))
  yield* source.exportTo(directory, maxTreeBytes)
  return directory
})

const nothing: FoundPaths = { paths: [], more: false }

/** Searches of a branch that is too large to be fetched find nothing. */
const searchOf = (scratch: ScratchObjects, tree: Effect.Effect<string, CheckoutError>): RevisionSearch => {
  const inTree = (search: (folder: string) => Effect.Effect<FoundPaths, CheckoutError>) =>
    Effect.flatMap(tree, search).pipe(
      Effect.catchIf(
        ({ reason }) => reason === "limit",
        ({ message }) => Effect.as(Effect.logInfo("branch not searched", { error: message }), nothing)
      )
    )
  const searching = searchFolder(scratch)
  return {
    filesWith: (search, limit) => inTree((folder) => searching.filesWith(folder, search, limit)),
    filesUnder: (under, limit) => inTree((folder) => searching.filesUnder(folder, under, limit))
  }
}

/** Fetches both sides of the paths and compares them. */
const diffOf = (
  source: FileSource,
  scratch: ScratchObjects,
  stored: Map<string, string>,
  paths: ReadonlyArray<ChangedPath>,
  exactRenames: boolean
): Stream.Stream<Uint8Array, CheckoutError> =>
  paths.length === 0
    ? Stream.empty
    : Stream.unwrap(
        Effect.gen(function* () {
          const added = paths.filter(({ status }) => status === "added").map(({ path }) => path)
          const gone = new Set(paths.map(({ path }) => path))
          const copies = (yield* source.copies(added)).filter((copy) => !gone.has(copy.source)).slice(0, maxCopies)
          const sources = [...new Set(copies.map((copy) => copy.source))]
          const sides: ReadonlyArray<FileSide> = [
            ...paths.filter(({ status }) => status !== "added").map(({ path }) => ({ path, at: "from" }) as const),
            ...paths.filter(({ status }) => status !== "deleted").map(({ path }) => ({ path, at: "head" }) as const),
            ...sources.map((path) => ({ path, at: "from" }) as const)
          ].filter((side) => !stored.has(keyOf(side)))
          yield* source.contents(sides, (index, content) =>
            Effect.map(scratch.write(content), (id) => {
              const side = sides[index]
              if (side !== undefined) stored.set(keyOf(side), id)
            })
          )
          yield* scratch.flush
          const entries = [...paths.map(entryOf(stored)), ...sources.map(unchanged(stored))].toSorted(inOrder)
          const trees = yield* writeChosenTrees(scratch.folder, anyCommit, entries)
          return diffStream(scratch, trees.before, trees.after, {
            exactRenames,
            copies: sources.length > 0,
            objects: trees.objects
          })
        })
      ).pipe(decodeDiff((id) => scratch.read(id)))

const entryOf =
  (stored: ReadonlyMap<string, string>) =>
  ({ path, status, newMode, oldMode }: ChangedPath): TreePath => {
    const oldId = status === "added" ? undefined : stored.get(keyOf({ path, at: "from" }))
    const newId = status === "deleted" ? undefined : stored.get(keyOf({ path, at: "head" }))
    return { path, status, oldMode, newMode, oldId, newId, bytes: Buffer.from(path).toString("latin1") }
  }

const unchanged =
  (stored: ReadonlyMap<string, string>) =>
  (path: string): TreePath => {
    const id = stored.get(keyOf({ path, at: "from" }))
    const bytes = Buffer.from(path).toString("latin1")
    return { path, status: "modified", oldMode: fileMode, newMode: fileMode, oldId: id, newId: id, bytes }
  }

/** Git sorts the entries of a tree by their bytes. */
const inOrder = (a: TreePath, b: TreePath): number => (a.bytes < b.bytes ? -1 : a.bytes > b.bytes ? 1 : 0)

/** Returns a changed file of a system without modes. */
export const changedFile = (path: string, status: ChangedPath["status"]): ChangedPath => ({
  path,
  status,
  oldMode: status === "added" ? undefined : fileMode,
  newMode: status === "deleted" ? undefined : fileMode
})

export const tooManyPaths = (maxPaths: number) =>
  new CheckoutError({
    reason: "limit",
    why: { _tag: "TooManyPaths", count: maxPaths }
  })
