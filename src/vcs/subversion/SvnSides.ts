/** Reads both sides of changed files: sizes, contents, and properties as texts. */
import { Effect } from "effect"
import type { ChangedPath } from "../Checkout.ts"
import type { FileSide, FileSource } from "../server/FileSource.ts"
import { readContents, readSizes } from "./SvnFiles.ts"
import type { SvnFile } from "./SvnFiles.ts"
import type { SvnEnds } from "./SvnInfo.ts"
import type { makeListings } from "./SvnListing.ts"
import type { SvnSession } from "./SvnSession.ts"
import { isPropertiesPath, readProperties, withoutSuffix } from "./SvnProperties.ts"
import { joinUrl, pegged } from "./SvnUrl.ts"
import { contentMillis, runSvn } from "./SvnProcess.ts"

/**
 * Reads both sides of many changed files with one command: a diff with whole files as context. `svn cat` connects to the server for each
 * file, so that this is several times faster. A file whose sides do not have the listed sizes, and one that svn treats as binary, is not
 * returned: it is read by itself.
 */
interface BothSides {
  readonly from: Buffer
  readonly head: Buffer
}

/** Headers of a file in the diff. */
const headerBytes = 2048
/** Lines of context: svn takes memory and time for each in every file, so that longer files are read by themselves. */
const maxContext = 20_000

/**
 * Returns the files that the diff shows whole, by their paths; none if svn cannot. `all`: the number of changed files, the bytes
 * of both their sides, and those of the largest side. Lines of one byte are twice as long with their prefixes.
 */
const readWholeDiff = Effect.fnUntraced(function* (
  session: SvnSession,
  { from, head }: SvnEnds,
  all: { readonly files: number; readonly bytes: number; readonly largest: number }
): Effect.fn.Return<ReadonlyMap<string, BothSides>> {
  if (from === undefined) return new Map()
  const ends = ["--old", pegged(from.url, from.revision), "--new", pegged(head.url, head.revision)]
  const diff = yield* runSvn(
    session,
    ["diff", "--internal-diff", "--ignore-properties", "-x", `-U ${Math.min(all.largest, maxContext)}`, ...ends],
    2 * all.bytes + all.files * headerBytes,
    contentMillis
  ).pipe(
    Effect.catch(({ message }) =>
      Effect.as(Effect.logDebug("changed files not read by one diff, reading each", { error: message }), undefined)
    )
  )
  return diff === undefined ? new Map() : parseWholeDiff(diff)
})

const newLine = 10
const carriageReturn = 13
const noNewLine = Buffer.from("\\ No newline at end of file")
const [unchanged, removed, added] = [32, 45, 43]

interface Hunk extends BothSides {
  readonly end: number
}

/** Parses a diff whose hunks are whole files. Files with several hunks, and those that cannot be read, are not in the result. Pure. */
export const parseWholeDiff = (diff: Buffer): ReadonlyMap<string, BothSides> => {
  const found = new Map<string, BothSides>()
  const cut = new Set<string>()
  let path = ""
  let at = 0
  while (at < diff.length) {
    const end = endOfHeader(diff, at)
    const line = diff.toString("utf8", at, end)
    at = end
    if (line.startsWith("Index: ")) path = line.slice("Index: ".length).replace(/\r?\n$/, "")
    const counts = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/.exec(line)
    if (counts === null) continue
    const [, oldStart, oldCount = "1", newStart, newCount = "1"] = counts
    const hunk = readHunk(diff, at, Number(oldCount), Number(newCount))
    if (hunk === undefined) return new Map()
    at = hunk.end
    if (found.has(path) || Number(oldStart) > 1 || Number(newStart) > 1) cut.add(path)
    found.set(path, hunk)
  }
  for (const one of cut) found.delete(one)
  return found
}

const endOfHeader = (diff: Buffer, at: number): number => {
  const end = diff.indexOf(newLine, at)
  return end < 0 ? diff.length : end + 1
}

/** Returns the index after the line. svn ends lines at line feeds, carriage returns, and both together. */
const endOfLine = (diff: Buffer, from: number): number => {
  let at = from
  while (at < diff.length && diff[at] !== newLine && diff[at] !== carriageReturn) at++
  return Math.min(diff.length, diff[at] === carriageReturn && diff[at + 1] === newLine ? at + 2 : at + 1)
}

/** Returns undefined if the hunk ends early. */
const readHunk = (diff: Buffer, start: number, oldCount: number, newCount: number): Hunk | undefined => {
  const [from, head]: [Array<Buffer>, Array<Buffer>] = [[], []]
  let [oldLeft, newLeft, at] = [oldCount, newCount, start]
  while (oldLeft > 0 || newLeft > 0) {
    const prefix = diff[at]
    if (prefix !== unchanged && prefix !== removed && prefix !== added) return undefined
    let end = endOfLine(diff, at + 1)
    const isLast = diff.subarray(end, end + noNewLine.length).equals(noNewLine)
    const line = diff.subarray(at + 1, isLast ? end - 1 : end)
    if (isLast) end = endOfHeader(diff, end)
    if (prefix !== added) {
      from.push(line)
      oldLeft--
    }
    if (prefix !== removed) {
      head.push(line)
      newLeft--
    }
    at = end
  }
  return oldLeft < 0 || newLeft < 0 ? undefined : { from: Buffer.concat(from), head: Buffer.concat(head), end: at }
}

/** Files whose properties are read at the same time. */
const propertiesAtOnce = 4
/** Files of a diff that are stored at the same time. */
const keptAtOnce = 8
/** Changed files and their bytes up to which they are read by one diff. It has those that are not wanted as well. */
const maxDiffFiles = 500
const maxDiffBytes = 8_388_608
/** Wanted files from which on one diff is faster. */
const minDiffFiles = 5

const keyOf = ({ revision, url }: SvnFile): string => `${url}@${revision}`

export const toSides = ({ path, status }: ChangedPath): ReadonlyArray<FileSide> => [
  ...(status === "added" ? [] : [{ path, at: "from" } as const]),
  ...(status === "deleted" ? [] : [{ path, at: "head" } as const])
]

const toFileSides = (changes: ReadonlyArray<ChangedPath>): ReadonlyArray<FileSide> =>
  changes.flatMap(toSides).filter(({ path }) => !isPropertiesPath(path))

type Listings = ReturnType<typeof makeListings>

export const makeSides = (session: SvnSession, ends: SvnEnds, listings: Listings) => {
  const { addSizes: addMissing, fileAt, sizeOf } = makeSizes(session, ends, listings)
  let changed: ReadonlyArray<ChangedPath> | undefined
  let readAhead: Effect.Effect<void> = Effect.void
  const addSizes = (sides: ReadonlyArray<FileSide>) =>
    Effect.andThen(
      Effect.suspend(() => readAhead),
      addMissing(sides)
    )
  const properties = (path: string, at: FileSide["at"]) => {
    const file = fileAt({ path: withoutSuffix(path), at })
    return file === undefined ? Effect.succeed(undefined) : readProperties(session, file)
  }

  /** Returns the files among the sides that one diff shows whole. Only small changes are read so: their sizes are known before. */
  const readTogether = Effect.fnUntraced(function* (sides: ReadonlyArray<FileSide>) {
    const none: ReadonlyMap<string, BothSides> = new Map()
    const isMany = new Set(sides.map(({ path }) => path)).size >= minDiffFiles
    if (!isMany || changed === undefined || changed.length > maxDiffFiles) return none
    const all = toFileSides(changed)
    yield* addSizes(all)
    const sizes = all.map(sizeOf)
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    if (bytes > maxDiffBytes) return none
    const found = yield* readWholeDiff(session, ends, { files: changed.length, bytes, largest: Math.max(...sizes) })
    const isWhole = (side: FileSide): boolean => found.get(side.path)?.[side.at].length === sizeOf(side)
    const cut = new Set(all.filter((side) => !isWhole(side)).map(({ path }) => path))
    return new Map([...found].filter(([path]) => !cut.has(path)))
  })

  const contents: FileSource["contents"] = Effect.fnUntraced(function* (sides, keep) {
    const wanted = sides.map((side, index) => ({ side, index, file: fileAt(side) }))
    yield* Effect.forEach(
      wanted.filter(({ side: { path } }) => isPropertiesPath(path)),
      ({ index, side }) =>
        Effect.flatMap(properties(side.path, side.at), (text) =>
          text === undefined ? Effect.void : keep(index, Buffer.from(text))
        ),
      { concurrency: propertiesAtOnce, discard: true }
    )
    const files = wanted
      .filter(({ side: { path } }) => !isPropertiesPath(path))
      .flatMap(({ file, index, side }) => (file === undefined ? [] : [{ file, index, side }]))
    yield* addSizes(files.map(({ side }) => side))
    const together = yield* readTogether(files.map(({ side }) => side))
    const parts = files.map((one) => ({ ...one, content: together.get(one.side.path)?.[one.side.at] }))
    yield* Effect.forEach(parts, ({ content, index }) => (content === undefined ? Effect.void : keep(index, content)), {
      concurrency: keptAtOnce,
      discard: true
    })
    const remaining = parts.filter(({ content }) => content === undefined)
    yield* readContents(
      session,
      remaining.map(({ file, side }) => ({ ...file, bytes: sizeOf(side) })),
      (at, content) => keep(remaining[at]?.index ?? 0, content)
    )
  })

  return {
    addSizes,
    contents,
    properties,
    sizeOf,
    /** Sets the changed files of the branch, once they are known. Returns an effect that reads the sizes of few ones before they are needed. */
    setChanges: (changes: ReadonlyArray<ChangedPath>): Effect.Effect<void> => {
      changed = changes
      if (changes.length > maxDiffFiles) return Effect.void
      readAhead = Effect.runSync(Effect.cached(Effect.ignore(addMissing(toFileSides(changes)))))
      return readAhead
    }
  }
}

const makeSizes = (session: SvnSession, ends: SvnEnds, listings: Listings) => {
  const sizes = new Map<string, number>()
  const fileAt = ({ at, path }: FileSide): SvnFile | undefined => {
    const end = at === "head" ? ends.head : ends.from
    return end === undefined ? undefined : { url: joinUrl(end.url, path), revision: end.revision }
  }
  const sizeOf = (side: FileSide): number => sizes.get(keyOf(fileAt(side) ?? { url: "", revision: "" })) ?? 0
  /** Reads sizes that are not known yet. Many are in the lists of folders, which are read at the same time. */
  const addSizes = Effect.fnUntraced(function* (sides: ReadonlyArray<FileSide>) {
    const unknown = sides.filter((side) => !sizes.has(keyOf(fileAt(side) ?? { url: "", revision: "" })))
    const addAt = Effect.fnUntraced(function* (at: FileSide["at"]) {
      const end = at === "head" ? ends.head : ends.from
      if (end === undefined) return
      const missing: Array<SvnFile> = []
      for (const side of unknown) {
        const file = side.at === at ? fileAt(side) : undefined
        if (file === undefined) continue
        const size = yield* Effect.catch(listings.size(end, side.path), () => Effect.undefined)
        if (size === undefined) missing.push(file)
        else sizes.set(keyOf(file), size)
      }
      const found = yield* readSizes(session, missing)
      missing.forEach((file, index) => sizes.set(keyOf(file), found[index] ?? 0))
    })
    yield* Effect.all([addAt("from"), addAt("head")], { concurrency: 2, discard: true })
  })
  return { addSizes, fileAt, sizeOf }
}
