/**
 * `FileSource` over svn. The compared states are the branch at the head and the same branch at the base, at its location then: svn follows its
 * history through renames and copies.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ChangedPath, Revision, ServerCheckoutRequest } from "../Checkout.ts"
import type { FileSide, FileSource } from "../server/FileSource.ts"
import { readAhead, takeChanges } from "./SvnAhead.ts"
import type { Ahead } from "./SvnAhead.ts"
import { readSvnBlame } from "./SvnBlame.ts"
import { exportSvn } from "./SvnExport.ts"
import { readContents, readSizes } from "./SvnFiles.ts"
import type { SvnFile } from "./SvnFiles.ts"
import type { ReadFacts } from "./SvnFacts.ts"
import { readInfo } from "./SvnInfo.ts"
import type { SvnEnd, SvnEnds } from "./SvnInfo.ts"
import type { SvnTree } from "./SvnListing.ts"
import { contentMillis, runSvn } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { isPropertiesPath, readProperties, withoutSuffix } from "./SvnProperties.ts"
import { joinUrl, pegged } from "./SvnUrl.ts"

const maxMessages = 50
/** Folders that are listed before they are read. */
const maxAhead = 20
/** Files whose properties are read at the same time. */
const propertiesAtOnce = 4

export const openSvnSource = Effect.fnUntraced(function* (
  session: SvnSession,
  request: ServerCheckoutRequest,
  readFacts: ReadFacts
): Effect.fn.Return<FileSource, CheckoutError, Scope.Scope> {
  const { base, branch, head, headOnly } = request
  if (!/^\d{1,18}$/.test(head) || !/^\d{1,18}$/.test(base)) {
    return yield* new CheckoutError({
      reason: "failed",
      message: `invalid revision ${head} or ${base}; expected numbers`
    })
  }
  const url = joinUrl(session.server.url, branch)
  const start = headOnly === true ? yield* findStart(session, url, head, base) : base
  const ahead = yield* readAhead(session, { head: { url, revision: head }, from: { url, revision: start } })
  const [facts, history] = yield* Effect.all([Effect.result(readFacts(session, head)), Effect.result(ahead.history)], {
    concurrency: 2
  })
  if (start !== "0" && facts._tag === "Success" && facts.success !== undefined && history._tag === "Success") {
    const pathInRepository = joinPath(facts.success.pathInRepository, branch)
    if (!history.success.mayBeReplaced(pathInRepository)) {
      const at = (tree: SvnTree): SvnEnd => ({ ...tree, pathInRepository })
      return yield* makeSource(session, { head: at(ahead.plain.head), from: at(ahead.plain.from) }, start, ahead)
    }
  }
  const infoOf = (revision: string) => (revision === "0" ? Effect.undefined : readInfo(session, url, head, revision))
  const [headInfo, from] = yield* Effect.all([readHead(session, url, head), infoOf(start)], { concurrency: 2 })
  return yield* makeSource(session, { head: headInfo, from }, start, ahead)
})

const joinPath = (parent: string, path: string): string => [parent, path].filter((one) => one !== "").join("/")

const readHead = Effect.fnUntraced(function* (session: SvnSession, url: string, head: string) {
  const info = yield* readInfo(session, url, head, head)
  if (info !== undefined) return info
  return yield* new CheckoutError({ reason: "missing", message: `${url} does not exist in revision ${head}` })
})

/** Returns the base of a review of the newest change of the branch alone. */
const findStart = Effect.fnUntraced(function* (session: SvnSession, url: string, head: string, base: string) {
  const { lastChanged } = yield* readHead(session, url, head)
  return String(Math.max(Number(base), Number(lastChanged) - 1))
})

/** Reads sizes and contents of sides, and properties as texts. */
const makeSides = (session: SvnSession, ends: SvnEnds, listings: Ahead["listings"]) => {
  const sizes = new Map<string, number>()
  const fileAt = ({ at, path }: FileSide): SvnFile | undefined => {
    const end = at === "head" ? ends.head : ends.from
    return end === undefined ? undefined : { url: joinUrl(end.url, path), revision: end.revision }
  }
  const properties = (path: string, at: "from" | "head") => {
    const file = fileAt({ path: withoutSuffix(path), at })
    return file === undefined ? Effect.succeed(undefined) : readProperties(session, file)
  }
  const sizeOf = (side: FileSide): number => sizes.get(keyOf(fileAt(side) ?? { url: "", revision: "" })) ?? 0
  /** Reads sizes that are not known yet. Those at the base are in the lists of folders, which are read at the same time. */
  const addSizes = Effect.fnUntraced(function* (sides: ReadonlyArray<FileSide>) {
    const add = Effect.fnUntraced(function* (files: ReadonlyArray<SvnFile>) {
      const found = yield* readSizes(session, files)
      files.forEach((file, index) => sizes.set(keyOf(file), found[index] ?? 0))
    })
    const unknown = sides.filter((side) => !sizes.has(keyOf(fileAt(side) ?? { url: "", revision: "" })))
    const filesAt = (at: FileSide["at"]) => unknown.flatMap((side) => (side.at === at ? (fileAt(side) ?? []) : []))
    const atBase = Effect.gen(function* () {
      const { from } = ends
      for (const side of unknown) {
        const file = fileAt(side)
        if (from === undefined || file === undefined || side.at === "head") continue
        const size = yield* Effect.catch(listings.size(from, side.path), () => Effect.undefined)
        if (size !== undefined) sizes.set(keyOf(file), size)
      }
      yield* add(filesAt("from").filter((file) => !sizes.has(keyOf(file))))
    })
    yield* Effect.all([atBase, add(filesAt("head"))], { concurrency: 2, discard: true })
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
    yield* readContents(
      session,
      files.map(({ file, side }) => ({ ...file, bytes: sizeOf(side) })),
      (at, content) => keep(files[at]?.index ?? 0, content)
    )
  })
  return { addSizes, contents, properties, sizeOf }
}

const makeSource = Effect.fnUntraced(function* (
  session: SvnSession,
  ends: SvnEnds,
  base: string,
  ahead: Ahead
): Effect.fn.Return<FileSource, never, Scope.Scope> {
  const { history, listings } = ahead
  const endAt = (at: Revision) => (at === "head" ? ends.head : ends.from)
  const { addSizes, contents, properties, sizeOf } = makeSides(session, ends, listings)
  const scope = yield* Effect.scope
  /** Lists the folders of the changed files, where a review looks for rules. */
  const listAhead = (changes: ReadonlyArray<ChangedPath>) => {
    const { from } = ends
    const folders = from === undefined ? Effect.void : listings.readAhead(from, listFolders(changes))
    return Effect.forkIn(Effect.ignore(folders), scope, { startImmediately: true })
  }
  const source: FileSource = {
    head: ends.head.revision,
    from: base,
    changes: (maxPaths) => Effect.tap(takeChanges(session, ends, ahead, maxPaths), listAhead),
    sizes: Effect.fnUntraced(function* (paths) {
      yield* addSizes(paths.flatMap(sidesOf).filter(({ path }) => !isPropertiesPath(path)))
      return paths.map((path) => Math.max(0, ...sidesOf(path).map(sizeOf)))
    }),
    contents,
    copies: (added) =>
      added.length === 0
        ? Effect.succeed([])
        : Effect.map(history, ({ findCopies }) =>
            findCopies(
              added,
              [ends.head, ends.from].flatMap((end) => end?.pathInRepository ?? [])
            )
          ),
    file: Effect.fnUntraced(function* (path, at, maxBytes) {
      if (isPropertiesPath(path)) {
        const text = yield* properties(path, at === "head" ? "head" : "from")
        return text === undefined ? undefined : Buffer.from(text)
      }
      const end = endAt(at)
      if (end === undefined || (yield* listings.isMissing(end, path))) return undefined
      return yield* readFile(session, { url: joinUrl(end.url, path), revision: end.revision }, maxBytes)
    }),
    list: (directory, at, limit) => {
      const end = endAt(at)
      return end === undefined ? Effect.succeed([]) : listings.files(end, directory, limit)
    },
    blame: (path, start, end) =>
      readSvnBlame(session, { url: joinUrl(ends.head.url, path), revision: ends.head.revision }, start, end),
    messages: Effect.map(history, ({ messages }) => messages.slice(-maxMessages)),
    exportTo: (folder, maxBytes) => exportSvn(session, ends.head, folder, maxBytes)
  }
  return source
})

/** Folders of existing files with all folders above them, in which a review looks for rules. */
const listFolders = (changes: ReadonlyArray<ChangedPath>): ReadonlyArray<string> => {
  const found = new Set<string>([""])
  for (const { path, status } of changes) {
    if (status === "added") continue
    for (let end = path.indexOf("/"); end > 0 && found.size < maxAhead; end = path.indexOf("/", end + 1))
      found.add(path.slice(0, end))
  }
  return [...found]
}

const keyOf = ({ revision, url }: SvnFile): string => `${url}@${revision}`

const sidesOf = ({ path, status }: ChangedPath): ReadonlyArray<FileSide> => [
  ...(status === "added" ? [] : [{ path, at: "from" } as const]),
  ...(status === "deleted" ? [] : [{ path, at: "head" } as const])
]

/** Reads one file; undefined if it does not exist or is larger. */
const readFile = (session: SvnSession, { revision, url }: SvnFile, maxBytes: number) =>
  runSvn(session, ["cat", "--ignore-keywords", "-r", revision, pegged(url, revision)], maxBytes, contentMillis).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.undefined
    )
  )
