/**
 * `FileSource` of what a working copy changes since its checkout: its files on disk, and what svn keeps of them. Keywords are those of the
 * checkout on both sides. Files that are not under version control do not exist for it.
 */
import { lstat, readdir, realpath } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { Revision } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import type { FileSide, FileSource } from "../server/FileSource.ts"
import { copyLocalFiles, localSizes, readLocalFile } from "../server/LocalFiles.ts"
import { changedFile, tooManyPaths } from "../server/SourceCheckout.ts"
import { readSvnBlame } from "./SvnBlame.ts"
import { contentMillis, readSvnXml, runSvn } from "./SvnProcess.ts"
import { isPropertiesPath, readLocalProperties, toPropertiesPath, withoutSuffix } from "./SvnProperties.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pinned, readStatus, unversionedItems } from "./SvnStatus.ts"
import type { WorkingChanges, WorkingFile } from "./SvnStatus.ts"

/** Changed paths that are read. */
const maxChanges = 200_000
const maxListed = 5000
const processes = 4
/** A file may be larger than what svn keeps of it, when keywords and line ends are converted. */
const slack = 65_536
/** Assumed size of a file of which svn keeps no copy. */
const unknownBytes = 8_388_608

const linkText = (target: string): string => `link ${target}`

export const openWorkingCopy = Effect.fnUntraced(function* (
  session: SvnSession,
  rootUrl: string,
  revision: string
): Effect.fn.Return<FileSource, CheckoutError> {
  const changes = yield* readStatus(session, rootUrl, maxChanges)
  return makeSource(session, changes, revision)
})

/** Reads both sides of files. */
const makeReader = (session: SvnSession, { files, unversioned }: WorkingChanges) => {
  const root = session.cwd
  const isVersioned = (path: string): boolean => !isUnversioned(unversioned, path)

  const readSide = (path: string, at: Revision, maxBytes: number): Effect.Effect<Buffer | undefined, CheckoutError> => {
    if (isPropertiesPath(path)) {
      const text = readLocalProperties(session, pinned(withoutSuffix(path)), at === "head" ? undefined : "BASE")
      return Effect.map(text, (found) => (found === undefined ? undefined : Buffer.from(found)))
    }
    if (!isVersioned(path)) return Effect.undefined
    const changed = files.get(path)
    if (at === "head" || changed === undefined) {
      return changed?.status === "deleted" ? Effect.undefined : readLocalFile(root, path, maxBytes, linkText)
    }
    return changed.status === "added" ? Effect.undefined : readBase(session, changed, maxBytes)
  }
  const baseBytes = (path: string) => {
    const file = files.get(path)
    return file === undefined || file.status === "added" ? Effect.succeed(0) : readBaseBytes(root, file)
  }
  const sizeOf = ({ at, path }: FileSide) =>
    at === "head" ? Effect.map(localSizes(root, [path]), ([bytes = 0]) => bytes) : baseBytes(path)

  return { isVersioned, readSide, sizeOf }
}

const makeSource = (session: SvnSession, changes: WorkingChanges, revision: string): FileSource => {
  const { files, properties } = changes
  const root = session.cwd
  const { isVersioned, readSide, sizeOf } = makeReader(session, changes)
  return {
    head: "working copy",
    from: revision,
    changes: (maxPaths) => {
      const found = [
        ...[...files.values()].map(({ path, status }) => changedFile(path, status)),
        ...properties.map((path) => changedFile(toPropertiesPath(path), "modified"))
      ]
      if (changes.more || found.length > maxPaths) return tooManyPaths(maxPaths)
      return Effect.succeed(found.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))))
    },
    sizes: (paths) =>
      Effect.forEach(
        paths,
        ({ path }) =>
          isPropertiesPath(path)
            ? Effect.succeed(0)
            : Effect.zipWith(sizeOf({ path, at: "from" }), sizeOf({ path, at: "head" }), Math.max),
        { concurrency: processes }
      ),
    contents: (sides, keep) =>
      Effect.forEach(
        sides,
        Effect.fnUntraced(function* (side, index) {
          const content = yield* readSide(side.path, side.at, 2 * (yield* sizeOf(side)) + slack)
          if (content !== undefined) yield* keep(index, content)
        }),
        { concurrency: processes, discard: true }
      ),
    copies: (added) =>
      Effect.succeed(
        added.flatMap((path) => {
          const source = files.get(path)?.copiedFrom
          return source === undefined ? [] : [{ path, source }]
        })
      ),
    file: readSide,
    list: Effect.fnUntraced(function* (directory, at, limit) {
      const folder = directory === "" ? "" : `${directory}/`
      const names = new Set<string>()
      const path = (name: string) => `${folder}${name}`
      if (isVersioned(directory))
        for (const name of yield* listFolder(root, directory)) if (isVersioned(path(name))) names.add(name)
      if (at !== "head") {
        for (const { path: changed, status } of files.values()) {
          const rest = changed.startsWith(folder) ? changed.slice(folder.length) : "/"
          if (rest.includes("/")) continue
          if (status === "added") names.delete(rest)
          else names.add(rest)
        }
      }
      return [...names].toSorted().slice(0, limit)
    }),
    // Changed lines have no revision yet.
    blame: (path, start, end) =>
      files.has(path) || !isVersioned(path)
        ? Effect.succeed([])
        : readSvnBlame(session, { url: `./${path}`, revision: "BASE" }, start, end),
    messages: Effect.succeed([]),
    steps: Effect.succeed([]),
    exportTo: Effect.fnUntraced(function* (folder, maxBytes) {
      const paths = yield* listVersioned(session)
      yield* copyLocalFiles(root, paths, folder, maxBytes)
    })
  }
}

const isUnversioned = (unversioned: ReadonlySet<string>, path: string): boolean => {
  if (path === ".svn" || path.startsWith(".svn/") || path.includes("/.svn/") || path.endsWith("/.svn")) return true
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1))
    if (unversioned.has(path.slice(0, end))) return true
  return false
}

/** Reads a file in its state at the checkout. */
const readBase = Effect.fnUntraced(function* (session: SvnSession, file: WorkingFile, maxBytes: number) {
  const { isReplaced, path, revision, url } = file
  if (yield* isKeptElsewhere(session.cwd, file)) {
    return yield* new CheckoutError({ reason: "failed", why: { _tag: "SvnCopyIsLink", path } })
  }
  return yield* runSvn(
    session,
    ["cat", ...(isReplaced ? [`${url}@${revision}`] : ["-r", "BASE", pinned(path)])],
    maxBytes,
    contentMillis
  ).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.undefined
    )
  )
})

/** Returns the copy that svn keeps in the folder, which its interface does not describe. */
const keptCopy = ({ checksum, isReplaced }: WorkingFile): string | undefined =>
  checksum === undefined || isReplaced || !/^[0-9a-f]{40}$/.test(checksum)
    ? undefined
    : join("pristine", checksum.slice(0, 2), `${checksum}.svn-base`)

/** Returns whether the copy is a link: svn would follow it, and the review would contain a file of this machine. */
const isKeptElsewhere = (root: string, file: WorkingFile): Effect.Effect<boolean, CheckoutError> => {
  const copy = keptCopy(file)
  return copy === undefined
    ? Effect.succeed(false)
    : io("working copy", async () => {
        const folder = await realpath(join(root, ".svn"))
        const found = await realpath(join(folder, copy)).catch(() => undefined)
        return found !== undefined && found !== join(folder, copy)
      })
}

/** Size of the copy that svn keeps; if it is elsewhere, a size is assumed. */
const readBaseBytes = (root: string, file: WorkingFile): Effect.Effect<number, CheckoutError> => {
  const copy = keptCopy(file)
  return copy === undefined
    ? Effect.succeed(unknownBytes)
    : io(
        "working copy",
        async () => (await lstat(join(root, ".svn", copy)).catch(() => undefined))?.size ?? unknownBytes
      )
}

/** Lists the versioned files directly in a folder, and unversioned ones, without links to folders. */
const listFolder = (root: string, directory: string): Effect.Effect<ReadonlyArray<string>, CheckoutError> =>
  io("working copy", async () => {
    const folder = join(root, directory)
    if ((await realpath(folder).catch(() => undefined)) !== join(await realpath(root), directory)) return []
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    return entries.flatMap((entry) => (entry.isDirectory() ? [] : [entry.name])).slice(0, maxListed)
  })

/** Lists all files under version control, without those that are deleted. */
const listVersioned = Effect.fnUntraced(function* (session: SvnSession) {
  const paths: Array<string> = []
  let item = "none"
  yield* readSvnXml(session, ["status", "--verbose", "--ignore-externals", "."], ({ attributes, name }) => {
    if (name === "wc-status") item = attributes["item"] ?? "none"
    if (name !== "entry" || unversionedItems.has(item) || item === "deleted") return
    const path = attributes["path"]
    if (path !== undefined && path !== ".") paths.push(path)
  })
  return paths
})
