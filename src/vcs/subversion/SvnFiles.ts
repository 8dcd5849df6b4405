/** Reads sizes and contents of many files with few processes. */
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { contentMillis, readSvnXml, runSvn } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { pegged } from "./SvnUrl.ts"

export interface SvnFile {
  readonly url: string
  readonly revision: string
}

interface SizedFile extends SvnFile {
  readonly bytes: number
}

/** Targets of a command: svn connects for each, so that several processes are faster. */
const sizesAtOnce = 25
const filesAtOnce = 20
const bytesAtOnce = 4_194_304
const processes = 4
/** Files of one command that are stored at the same time. */
const keptAtOnce = 8
/** A file may be larger than its size in the list, when line ends are converted. */
const slack = 65_536

const targets = (files: ReadonlyArray<SvnFile>): ReadonlyArray<string> =>
  files.map(({ revision, url }) => pegged(url, revision))

const partsOf = <A>(items: ReadonlyArray<A>, count: number): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(items.length / count) }, (_, at) => items.slice(at * count, (at + 1) * count))

/** A file, or a folder with several of the files, which one request lists. */
interface ListTarget extends SvnFile {
  /** Indexes of the files by their names. */
  readonly files: ReadonlyMap<string, number>
}

/** Files of a folder from which on the folder is listed. */
const minFolderFiles = 3
/** Entries of folders that one command reads; the remaining files are listed by themselves. */
const maxFolderEntries = 20_000

const nameOf = (url: string): string => decodeURIComponent(url.slice(url.lastIndexOf("/") + 1))

const toListTargets = (files: ReadonlyArray<SvnFile>, indexes: ReadonlyArray<number>, inFolders: boolean) => {
  const folders = new Map<string, SvnFile & { readonly files: Map<string, number> }>()
  for (const index of indexes) {
    const file = files[index]
    if (file === undefined) continue
    const url = inFolders ? file.url.slice(0, file.url.lastIndexOf("/")) : file.url
    const key = `${url}@${file.revision}`
    const target = folders.get(key) ?? { url, revision: file.revision, files: new Map<string, number>() }
    folders.set(key, target)
    target.files.set(nameOf(file.url), index)
  }
  return [...folders.values()].flatMap((target): ReadonlyArray<ListTarget> =>
    !inFolders || target.files.size >= minFolderFiles
      ? [target]
      : [...target.files].map(([name, index]) => ({
          url: files[index]?.url ?? "",
          revision: target.revision,
          files: new Map([[name, index]])
        }))
  )
}

/** Returns sizes as stored, in order. All files must exist. */
export const readSizes = Effect.fnUntraced(function* (
  session: SvnSession,
  files: ReadonlyArray<SvnFile>
): Effect.fn.Return<ReadonlyArray<number>, CheckoutError> {
  const sizes = new Map<number, number>()
  for (const inFolders of [true, false]) {
    const missing = [...files.keys()].filter((index) => !sizes.has(index))
    yield* Effect.forEach(
      partsOf(toListTargets(files, missing, inFolders), sizesAtOnce),
      (part) => listSizes(session, part, sizes),
      { concurrency: processes, discard: true }
    )
  }
  if (sizes.size === files.length) return files.map((_, index) => sizes.get(index) ?? 0)
  return yield* new CheckoutError({ reason: "failed", why: { _tag: "FileNotInRevision" } })
})

/** Adds the sizes of the files; ends early in very large folders. */
const listSizes = (session: SvnSession, listed: ReadonlyArray<ListTarget>, sizes: Map<number, number>) => {
  let at = 0
  let entries = 0
  let file = { name: "", size: 0 }
  return readSvnXml(session, ["list", ...targets(listed)], ({ name, text }) => {
    if (name === "name") file = { name: text, size: 0 }
    if (name === "size") file.size = Number(text)
    if (name === "entry") {
      const index = listed[at]?.files.get(file.name)
      if (index !== undefined) sizes.set(index, file.size)
      entries++
    }
    if (name === "list") at++
    return entries > maxFolderEntries
  })
}

/** Divides files into commands whose output fits into memory. */
const toCommands = (files: ReadonlyArray<SizedFile>): ReadonlyArray<ReadonlyArray<number>> => {
  const commands: Array<Array<number>> = []
  let bytes = Number.POSITIVE_INFINITY
  for (const [index, file] of files.entries()) {
    const current = commands.at(-1)
    if (current === undefined || current.length >= filesAtOnce || bytes + file.bytes > bytesAtOnce) {
      commands.push([index])
      bytes = file.bytes
    } else {
      current.push(index)
      bytes += file.bytes
    }
  }
  return commands
}

/** Reads the files; `keep` gets the content of each with its index. */
export const readContents = (
  session: SvnSession,
  files: ReadonlyArray<SizedFile>,
  keep: (index: number, content: Uint8Array) => Effect.Effect<void, CheckoutError>
): Effect.Effect<void, CheckoutError> => {
  const cat = (some: ReadonlyArray<SizedFile>) => {
    const bytes = some.reduce((sum, file) => sum + file.bytes, 0)
    return Effect.flatMap(
      runSvn(session, ["cat", "--ignore-keywords", ...targets(some)], 2 * bytes + slack, contentMillis),
      (content) =>
        content === undefined
          ? new CheckoutError({
              reason: "limit",
              why: { _tag: "LargerThanListed", command: "svn cat", path: some[0]?.url ?? "" }
            })
          : Effect.succeed(content)
    )
  }
  const one = (index: number) => {
    const file = files[index]
    return file === undefined ? Effect.void : Effect.flatMap(cat([file]), (content) => keep(index, content))
  }
  const read = Effect.fnUntraced(function* (indexes: ReadonlyArray<number>) {
    const some = indexes.flatMap((index) => files[index] ?? [])
    const content = yield* cat(some)
    // The contents follow each other without a mark. If sizes differ from the list, each file is read by itself.
    if (content.length !== some.reduce((sum, file) => sum + file.bytes, 0))
      return yield* Effect.forEach(indexes, one, { discard: true })
    let at = 0
    const parts = indexes.map((index) => {
      const start = at
      at += files[index]?.bytes ?? 0
      return { index, part: content.subarray(start, at) }
    })
    yield* Effect.forEach(parts, ({ index, part }) => keep(index, part), { concurrency: keptAtOnce, discard: true })
  })
  return Effect.forEach(toCommands(files), read, { concurrency: processes, discard: true })
}
