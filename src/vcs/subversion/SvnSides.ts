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
import { joinUrl } from "./SvnUrl.ts"
import { readWholeDiff } from "./SvnWholeDiff.ts"
import type { BothSides } from "./SvnWholeDiff.ts"

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
