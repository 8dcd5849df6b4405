/**
 * Lists the paths in which two trees differ, by their ids only: no file is read, identical folders are skipped, and it fails when
 * there are too many paths. A tree with duplicate or unsorted names, which git would not write, is refused, because it could hide
 * a file.
 */
import { Effect } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"
import type { ChangedPath } from "../Checkout.ts"
import type { GitObject } from "./BlobReader.ts"
import type { ReadObject } from "./CommitObject.ts"

export interface TreePath extends ChangedPath {
  /** Bytes of the path, one character each, because file names need not be valid UTF-8. */
  readonly bytes: string
  readonly oldId: string | undefined
  readonly newId: string | undefined
}

interface Entry {
  readonly mode: string
  readonly name: string
  /** Sort key of git: a folder sorts as its name with a slash. */
  readonly key: string
  readonly id: string
}

interface Pair {
  readonly folder: string
  readonly before: ReadonlyArray<Entry>
  readonly after: ReadonlyArray<Entry>
  beforeAt: number
  afterAt: number
}

/** Maximum bytes of one tree object, about 400,000 files. */
const maxTreeBytes = 33_554_432
/** Maximum length of a path on Linux. */
const maxPathBytes = 4096
const stepLength = 100

const folderMode = "40000"
const isFolder = (entry: Entry | undefined): boolean => entry?.mode === folderMode

export const walkTrees = Effect.fnUntraced(function* (
  read: ReadObject,
  from: string,
  to: string,
  maxPaths: number
): Effect.fn.Return<ReadonlyArray<TreePath>, CheckoutError> {
  const found: Array<TreePath> = []
  const ahead: TreesAhead = { waiting: new Map(), parsed: new Map() }
  let steps = 0
  let trees = 0
  const enter = Effect.fnUntraced(function* (folder: string, before: string | undefined, after: string | undefined) {
    if (folder.length > maxPathBytes) return yield* refused({ _tag: "ChangedPathTooLong", bytes: maxPathBytes })
    // Folders count as well, because there could be many without files.
    if (++trees + found.length > maxPaths + 1) return yield* tooMany(maxPaths)
    return {
      folder,
      before: yield* parseEntries(read, ahead, before),
      after: yield* parseEntries(read, ahead, after),
      beforeAt: 0,
      afterAt: 0
    }
  })
  const open: Array<Pair> = []
  if (from !== to) {
    yield* readAhead(read, ahead, [from, to])
    open.push(yield* enter("", from, to))
  }
  while (open.length > 0) {
    const pair = open.at(-1) as Pair
    const next = step(pair)
    if (++steps % stepLength === 0) yield* Effect.yieldNow
    if (next === undefined) {
      open.pop()
      continue
    }
    const { before, after } = next
    if (isSame(before, after)) continue
    const bytes = pair.folder + (before ?? after)?.name
    if (isFolder(before) || isFolder(after)) {
      const ids = [before?.id, after?.id].flatMap((id) => id ?? [])
      if (ids.some((id) => !isHeld(ahead, id))) {
        yield* readAhead(read, ahead, ahead.waiting.size < maxHeld ? [...ids, ...findNextFolders(pair)] : ids)
      }
      open.push(yield* enter(`${bytes}/`, before?.id, after?.id))
      continue
    }
    if (found.length + trees > maxPaths) return yield* tooMany(maxPaths)
    found.push(changed(bytes, before, after))
  }
  return found
})

interface TreesAhead {
  /** Trees by their ids that are read and not yet entered; undefined: not here, or too large to wait. */
  readonly waiting: Map<string, GitObject | undefined>
  /** Small trees that were entered: a few trees, each a thousand times in another one, make a change of a million paths. */
  readonly parsed: Map<string, ReadonlyArray<Entry>>
}

/** Maximum number of trees that are kept for further paths of the same tree, and their maximum length. */
const maxRepeated = 64
const maxRepeatedEntries = 32

/** Maximum number of trees per request: the wait for git takes longer than its reads. */
const maxAhead = 8
/** A larger tree is read when it is entered. */
const aheadBytes = 65_536
/** Maximum number of trees that are held before they are entered, in a change of many levels. */
const maxHeld = 256
/** Maximum number of entries that are scanned for the next folders. */
const maxLook = 500

const isHeld = ({ waiting, parsed }: TreesAhead, id: string): boolean => waiting.has(id) || parsed.has(id)

const readAhead = (
  read: ReadObject,
  ahead: TreesAhead,
  ids: ReadonlyArray<string>
): Effect.Effect<void, CheckoutError> => {
  const missing = [...new Set(ids)].filter((id) => !isHeld(ahead, id)).slice(0, maxAhead)
  const keep = (id: string) => Effect.map(read(id, aheadBytes), (tree) => void ahead.waiting.set(id, tree))
  return Effect.forEach(missing, keep, { concurrency: "unbounded", discard: true })
}

/** Ids of the folders of a pair that come next and are not the same on both sides. */
const findNextFolders = (pair: Pair): ReadonlyArray<string> => {
  const ids: Array<string> = []
  const ahead = { ...pair }
  for (let looked = 0; looked < maxLook && ids.length < maxAhead; looked++) {
    const next = step(ahead)
    if (next === undefined) break
    if (isSame(next.before, next.after)) continue
    for (const entry of [next.before, next.after]) if (entry !== undefined && isFolder(entry)) ids.push(entry.id)
  }
  return ids
}

const parseEntries = Effect.fnUntraced(function* (read: ReadObject, ahead: TreesAhead, id: string | undefined) {
  if (id === undefined) return []
  const earlier = ahead.parsed.get(id)
  if (earlier !== undefined) return earlier
  const waiting = ahead.waiting.get(id)
  ahead.waiting.delete(id)
  const entries = yield* entriesIn(id, waiting?.content === undefined ? yield* read(id, maxTreeBytes) : waiting)
  if (entries.length <= maxRepeatedEntries) {
    const [oldest] = ahead.parsed.keys()
    if (oldest !== undefined && ahead.parsed.size >= maxRepeated) ahead.parsed.delete(oldest)
    ahead.parsed.set(id, entries)
  }
  return entries
})

const isSame = (before: Entry | undefined, after: Entry | undefined): boolean =>
  before?.id === after?.id && before?.mode === after?.mode

/** Next name of a folder, on the sides that have it. */
const step = (pair: Pair): { readonly before: Entry | undefined; readonly after: Entry | undefined } | undefined => {
  const before = pair.before[pair.beforeAt]
  const after = pair.after[pair.afterAt]
  if (before === undefined && after === undefined) return undefined
  const takesBefore = after === undefined || (before !== undefined && before.key <= after.key)
  const takesAfter = before === undefined || (after !== undefined && after.key <= before.key)
  if (takesBefore) pair.beforeAt++
  if (takesAfter) pair.afterAt++
  return { before: takesBefore ? before : undefined, after: takesAfter ? after : undefined }
}

// oxlint-disable-next-line no-control-regex -- all of ASCII
const isAscii = /^[\0-\x7f]*$/

const changed = (bytes: string, before: Entry | undefined, after: Entry | undefined): TreePath => ({
  path: isAscii.test(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8"),
  bytes,
  status: before === undefined ? "added" : after === undefined ? "deleted" : "modified",
  oldMode: before?.mode,
  newMode: after?.mode,
  oldId: before?.id,
  newId: after?.id
})

const nul = 0
const space = 32
/** One more than a mode has, which makes a longer one invalid. */
const maxModeLength = 8

/** Parses `<mode> <name>\0<id>`, repeated. */
const entriesIn = Effect.fnUntraced(function* (
  tree: string,
  object: GitObject | undefined
): Effect.fn.Return<ReadonlyArray<Entry>, CheckoutError> {
  if (object?.type !== "tree") return yield* refused({ _tag: "TreeMissing", tree })
  if (object.content === undefined) {
    return yield* refused({ _tag: "TreeTooLarge", bytes: maxTreeBytes })
  }
  const { content } = object
  const idBytes = tree.length / 2
  const entries: Array<Entry> = []
  let last = ""
  // Most entries have the mode of the one before.
  let lastWritten = ""
  let mode: string | undefined
  for (let at = 0; at < content.length;) {
    const end = content.indexOf(nul, at)
    const blank = content.indexOf(space, at)
    const written = content.toString("latin1", at, Math.min(blank, at + maxModeLength))
    const name = content.toString("latin1", blank + 1, end)
    const id = content.toString("hex", end + 1, end + 1 + idBytes)
    if (written !== lastWritten) mode = /^0?([0-7]{5,6})$/.exec(written)?.[1]
    lastWritten = written
    const key = mode === folderMode ? `${name}/` : name
    const hasName = blank >= 0 && blank + 1 < end && !name.includes("/")
    if (mode === undefined || !hasName || id.length !== tree.length || key <= last) {
      return yield* refused({ _tag: "TreeMalformed", tree })
    }
    entries.push({ mode, name, key, id })
    last = key
    at = end + 1 + idBytes
    if (entries.length % stepLength === 0) yield* Effect.yieldNow
  }
  return entries
})

const refused = (why: Reason) => Effect.fail(new CheckoutError({ reason: "limit", why }))

const tooMany = (maxPaths: number) => refused({ _tag: "TooManyPaths", count: maxPaths })
