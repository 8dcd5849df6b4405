/**
 * `FileSource` of the files that a client workspace has opened: their contents on disk, and the revisions that the workspace was synced to.
 * Keywords are expanded on both sides. Files that are neither opened nor synced do not exist for it.
 */
import { Effect } from "effect"
import { encodeName } from "../../domain/DepotPath.ts"
import type { ChangedPath, CheckoutError, Revision } from "../Checkout.ts"
import type { FileSide, FileSource } from "../server/FileSource.ts"
import { copyLocalFiles, localDigest, localSizes, readLocalFile } from "../server/LocalFiles.ts"
import { isProper, tooManyPaths } from "../server/SourceCheckout.ts"
import { readP4Blame } from "./P4Blame.ts"
import { findRevisions, readContent } from "./P4Files.ts"
import type { ListedFile } from "./P4Files.ts"
import { readP4 } from "./P4Process.ts"
import type { P4Session } from "./P4Session.ts"
import { isBinary, isDeleted, isUtf16, toMode, toUtf8 } from "./P4Types.ts"

/** Opened files that are read. */
const maxOpened = 100_000
const maxListed = 5000
const processes = 4
const slack = 65_536

interface OpenedFile {
  readonly path: string
  readonly action: string
  readonly type: string
  /** Revision that the workspace was synced to; undefined for a file that is new here. */
  readonly have: ListedFile | undefined
}

const newHere = new Set(["add", "branch", "move/add", "import"])
const asIs = (target: string): string => target

export const openWorkspace = Effect.fnUntraced(function* (
  session: P4Session,
  root: string
): Effect.fn.Return<FileSource, CheckoutError> {
  const { files, more } = yield* readOpened(session, root)
  return makeSource(session, root, files, more)
})

const readOpened = Effect.fnUntraced(function* (session: P4Session, root: string) {
  const found: Array<Omit<OpenedFile, "have"> & { readonly spec: string | undefined }> = []
  const fields = "depotFile,clientFile,action,type,haveRev"
  const more = yield* readP4(
    session,
    { args: ["fstat", "-Ro", "-T", fields, `${encodeName(root)}/...`] },
    {
      record: ({ action = "edit", clientFile, depotFile, haveRev, type = "text" }) => {
        const path = clientFile?.startsWith(`${root}/`) === true ? clientFile.slice(root.length + 1) : undefined
        if (path === undefined || !isProper(path) || depotFile === undefined) return false
        const isNew = newHere.has(action) || haveRev === undefined || haveRev === "none"
        found.push({ path, action, type, spec: isNew ? undefined : `${depotFile}#${haveRev}` })
        return found.length > maxOpened
      }
    }
  )
  const specs = found.flatMap(({ spec }) => (spec === undefined ? [] : [spec]))
  const revisions = new Map((yield* findRevisions(session, specs)).map((file) => [file.spec, file]))
  const files = found.map(({ spec, ...file }) => ({
    ...file,
    have: spec === undefined ? undefined : revisions.get(spec)
  }))
  const changed = yield* Effect.filter(files, (file) => Effect.map(isUnchanged(root, file), (same) => !same), {
    concurrency: processes
  })
  return { files: new Map(changed.map((file) => [file.path, file])), more }
})

/** Returns whether a file was opened, but not edited. */
const isUnchanged = Effect.fnUntraced(function* (root: string, { action, have, path, type }: OpenedFile) {
  if (action !== "edit" || have?.digest === undefined || toMode(have.type) !== toMode(type)) return false
  const [bytes] = yield* localSizes(root, [path])
  return bytes === have.bytes && (yield* localDigest(root, path)) === have.digest
})

type Opened = ReadonlyMap<string, OpenedFile>

/** Reads both sides of files. */
const makeReader = (session: P4Session, root: string, opened: Opened) => {
  const synced = makeSynced(session, root)

  const readDisk = Effect.fnUntraced(function* (path: string, type: string, maxBytes: number) {
    const content = yield* readLocalFile(root, path, maxBytes, asIs)
    return content === undefined || !isUtf16(type) ? content : toUtf8(content)
  })
  const readHave = (file: ListedFile, maxBytes: number) =>
    isBinary(file.type) || (file.bytes ?? 0) > maxBytes ? Effect.undefined : readContent(session, file, maxBytes, true)

  const readFile = Effect.fnUntraced(function* (path: string, at: Revision, maxBytes: number) {
    const own = opened.get(path)
    if (own !== undefined) {
      if (at !== "head") return own.have === undefined ? undefined : yield* readHave(own.have, maxBytes)
      return isDeleted(own.action) || isBinary(own.type) ? undefined : yield* readDisk(path, own.type, maxBytes)
    }
    const rev = (yield* synced(folderOf(path))).get(path)
    if (rev === undefined) return undefined
    if (at === "head") return yield* readDisk(path, "text", maxBytes)
    const [file] = yield* findRevisions(session, [rev])
    return file === undefined ? undefined : yield* readHave(file, maxBytes)
  })

  const sizeOf = ({ at, path }: FileSide) =>
    at === "from"
      ? Effect.succeed(opened.get(path)?.have?.bytes ?? 0)
      : Effect.map(localSizes(root, [path]), ([bytes = 0]) => bytes)

  /** Content for the diff: binary files are named only, and are not read. */
  const readSide = Effect.fnUntraced(function* ({ at, path }: FileSide) {
    const own = opened.get(path)
    const type = at === "from" ? own?.have?.type : own?.type
    if (type !== undefined && isBinary(type)) return Buffer.from(`\0${at}`)
    return yield* readFile(path, at, 2 * (yield* sizeOf({ at, path })) + slack)
  })

  return { synced, readFile, readSide, sizeOf }
}

const makeSource = (session: P4Session, root: string, opened: Opened, more: boolean): FileSource => {
  const { readFile, readSide, sizeOf, synced } = makeReader(session, root, opened)
  return {
    head: "workspace",
    from: "have",
    changes: (maxPaths) =>
      more || opened.size > maxPaths ? tooManyPaths(maxPaths) : Effect.succeed(toChanges([...opened.values()])),
    sizes: (paths) =>
      Effect.forEach(
        paths,
        ({ path }) => Effect.zipWith(sizeOf({ path, at: "from" }), sizeOf({ path, at: "head" }), Math.max),
        { concurrency: processes }
      ),
    contents: (sides, keep) =>
      Effect.forEach(
        sides,
        Effect.fnUntraced(function* (side, index) {
          const content = yield* readSide(side)
          if (content !== undefined) yield* keep(index, content)
        }),
        { concurrency: processes, discard: true }
      ),
    copies: () => Effect.succeed([]),
    file: readFile,
    list: Effect.fnUntraced(function* (directory, at, limit) {
      const paths = new Set((yield* synced(directory)).keys())
      for (const { action, have, path } of opened.values()) {
        if (folderOf(path) !== directory) continue
        const exists = at === "head" ? !isDeleted(action) : have !== undefined
        if (exists) paths.add(path)
        else paths.delete(path)
      }
      const start = directory === "" ? 0 : directory.length + 1
      return [...paths]
        .map((path) => path.slice(start))
        .toSorted()
        .slice(0, limit)
    }),
    // Opened lines have no changelist yet.
    blame: Effect.fnUntraced(function* (path, start, end) {
      const spec = opened.has(path) ? undefined : (yield* synced(folderOf(path))).get(path)
      if (spec === undefined) return []
      const [file] = yield* findRevisions(session, [spec])
      return file === undefined ? [] : yield* readP4Blame(session, file, start, end)
    }),
    messages: Effect.succeed([]),
    steps: Effect.succeed([]),
    exportTo: Effect.fnUntraced(function* (folder, maxBytes) {
      const paths = new Set((yield* listSynced(session, root, `${encodeName(root)}/...`)).keys())
      for (const { action, path } of opened.values()) if (!isDeleted(action)) paths.add(path)
      yield* copyLocalFiles(root, paths, folder, maxBytes)
    })
  }
}

const toChanges = (files: ReadonlyArray<OpenedFile>): ReadonlyArray<ChangedPath> =>
  files
    .flatMap(({ action, have, path, type }): ReadonlyArray<ChangedPath> => {
      const newMode = isDeleted(action) ? undefined : toMode(type)
      const oldMode = have === undefined ? undefined : toMode(have.type)
      if (newMode === undefined && oldMode === undefined) return []
      const status = oldMode === undefined ? "added" : newMode === undefined ? "deleted" : "modified"
      return [{ path, status, oldMode, newMode }]
    })
    .toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")))

/** Lists the synced files directly in a folder, each folder once. */
const makeSynced = (session: P4Session, root: string) => {
  const kept = new Map<string, Effect.Effect<ReadonlyMap<string, string>, CheckoutError>>()
  return (directory: string): Effect.Effect<ReadonlyMap<string, string>, CheckoutError> =>
    Effect.suspend(() => {
      const folder = directory === "" ? encodeName(root) : `${encodeName(root)}/${encodeName(directory)}`
      const existing = kept.get(directory)
      if (existing !== undefined) return existing
      const reading = Effect.runSync(Effect.cached(listSynced(session, root, `${folder}/*`, maxListed)))
      kept.set(directory, reading)
      return reading
    })
}

/** Returns the revision of each synced file, by its path. */
const listSynced = Effect.fnUntraced(function* (session: P4Session, root: string, spec: string, limit = maxOpened) {
  const found = new Map<string, string>()
  yield* readP4(
    session,
    { args: ["have", spec] },
    {
      record: ({ depotFile, haveRev, path }) => {
        const own = path?.startsWith(`${root}/`) === true ? path.slice(root.length + 1) : undefined
        if (own !== undefined && isProper(own) && depotFile !== undefined && haveRev !== undefined)
          found.set(own, `${depotFile}#${haveRev}`)
        return found.size >= limit
      }
    }
  )
  return found
})
