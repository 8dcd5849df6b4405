/**
 * `FileSource` over svn. The compared states are the branch at the head and the same branch at the base, at its location then: svn follows its
 * history through renames and copies.
 */
import { Effect, Option } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ChangedPath, Revision, ServerCheckoutRequest } from "../Checkout.ts"
import { measureBytes } from "../git/MirrorUse.ts"
import { io } from "../git/Mirror.ts"
import type { FileSide, FileSource } from "../server/FileSource.ts"
import { changedFile, tooManyPaths } from "../server/SourceCheckout.ts"
import { readSvnBlame } from "./SvnBlame.ts"
import { readContents, readSizes } from "./SvnFiles.ts"
import type { SvnFile } from "./SvnFiles.ts"
import { readHistory } from "./SvnHistory.ts"
import { readInfo } from "./SvnInfo.ts"
import type { SvnEnds, SvnInfo } from "./SvnInfo.ts"
import { makeListings } from "./SvnListing.ts"
import { contentMillis, readSvnXml, runSvn } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import { isPropertiesPath, readProperties, toPropertiesPath, withoutSuffix } from "./SvnProperties.ts"
import { joinUrl, pathBelow, pegged } from "./SvnUrl.ts"

const maxMessages = 50
/** Folders that are listed before they are read. */
const maxAhead = 20

export const openSvnSource = Effect.fnUntraced(function* (
  session: SvnSession,
  request: ServerCheckoutRequest
): Effect.fn.Return<FileSource, CheckoutError, Scope.Scope> {
  const { base, head } = request
  if (!/^\d{1,18}$/.test(head) || !/^\d{1,18}$/.test(base)) {
    return yield* new CheckoutError({
      reason: "failed",
      message: `invalid revision ${head} or ${base}; expected numbers`
    })
  }
  const url = joinUrl(session.server.url, request.branch)
  const infoOf = (revision: string) => (revision === "0" ? Effect.undefined : readInfo(session, url, head, revision))
  const [headInfo, baseInfo] = yield* Effect.all([readInfo(session, url, head, head), infoOf(base)], { concurrency: 2 })
  if (headInfo === undefined) {
    return yield* new CheckoutError({ reason: "missing", message: `${url} does not exist in revision ${head}` })
  }
  const start =
    request.headOnly === true && Number(head) > 0
      ? String(Math.max(Number(base), Number(headInfo.lastChanged) - 1))
      : base
  const from = start === base ? baseInfo : yield* infoOf(start)
  const ends: SvnEnds = { head: headInfo, from }
  return yield* makeSource(session, ends, start)
})

const makeSource = Effect.fnUntraced(function* (session: SvnSession, ends: SvnEnds, base: string) {
  const infoAt = (at: Revision) => (at === "head" ? ends.head : ends.from)
  const listings = makeListings(session)
  const sizes = new Map<string, number>()
  const history = yield* Effect.cached(readHistory(session, ends, base))
  const scope = yield* Effect.scope
  /** Starts requests whose replies every review reads after the changed paths. Failures are those of the readers. */
  const readAhead = (changes: ReadonlyArray<ChangedPath>) => {
    const { from } = ends
    const folders = from === undefined ? Effect.void : listings.readAhead(from, listFolders(changes))
    return Effect.forkIn(Effect.ignore(Effect.all([history, folders], { concurrency: 2 })), scope)
  }
  const fileAt = ({ at, path }: FileSide): SvnFile | undefined => {
    const info = infoAt(at)
    return info === undefined ? undefined : { url: joinUrl(info.url, path), revision: info.revision }
  }
  const properties = (path: string, at: "from" | "head") => {
    const file = fileAt({ path: withoutSuffix(path), at })
    return file === undefined ? Effect.succeed(undefined) : readProperties(session, file)
  }
  const source: FileSource = {
    head: ends.head.revision,
    from: base,
    changes: (maxPaths) => Effect.tap(readChanges(session, ends, maxPaths), readAhead),
    sizes: Effect.fnUntraced(function* (paths) {
      const sides = paths.flatMap(sidesOf).filter(({ path }) => !isPropertiesPath(path))
      const files = sides.flatMap((side) => fileAt(side) ?? [])
      const found = yield* readSizes(session, files)
      files.forEach((file, index) => sizes.set(keyOf(file), found[index] ?? 0))
      return paths.map((path) =>
        Math.max(0, ...sidesOf(path).map((side) => sizes.get(keyOf(fileAt(side) ?? { url: "", revision: "" })) ?? 0))
      )
    }),
    contents: Effect.fnUntraced(function* (sides, keep) {
      const wanted = sides.map((side, index) => ({ side, index, file: fileAt(side) }))
      for (const { index, side } of wanted.filter(({ side: { path } }) => isPropertiesPath(path))) {
        const text = yield* properties(side.path, side.at)
        if (text !== undefined) yield* keep(index, Buffer.from(text))
      }
      const files = wanted
        .filter(({ side: { path } }) => !isPropertiesPath(path))
        .flatMap(({ file, index }) => (file === undefined ? [] : [{ file, index }]))
      const unsized = files.filter(({ file }) => !sizes.has(keyOf(file)))
      const found = yield* readSizes(
        session,
        unsized.map(({ file }) => file)
      )
      unsized.forEach(({ file }, at) => sizes.set(keyOf(file), found[at] ?? 0))
      yield* readContents(
        session,
        files.map(({ file }) => ({ ...file, bytes: sizes.get(keyOf(file)) ?? 0 })),
        (at, content) => keep(files[at]?.index ?? 0, content)
      )
    }),
    copies: (added) =>
      added.length === 0 ? Effect.succeed([]) : Effect.map(history, ({ findCopies }) => findCopies(added)),
    file: Effect.fnUntraced(function* (path, at, maxBytes) {
      if (isPropertiesPath(path)) {
        const text = yield* properties(path, at === "head" ? "head" : "from")
        return text === undefined ? undefined : Buffer.from(text)
      }
      const info = infoAt(at)
      if (info === undefined || (yield* listings.isMissing(info, path))) return undefined
      return yield* readFile(session, { url: joinUrl(info.url, path), revision: info.revision }, maxBytes)
    }),
    list: (directory, at, limit) => {
      const info = infoAt(at)
      return info === undefined ? Effect.succeed([]) : listings.files(info, directory, limit)
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

const readChanges = Effect.fnUntraced(function* (session: SvnSession, { from, head }: SvnEnds, maxPaths: number) {
  const found: Array<ChangedPath> = []
  /** Name of the entry that is being read. */
  let last = ""
  const add = (path: string, status: ChangedPath["status"]): boolean => found.push(changedFile(path, status)) > maxPaths
  const stopped =
    from === undefined
      ? yield* readSvnXml(session, ["list", "-R", "-r", head.revision, pegged(head.url, head.revision)], (element) => {
          const { name, text, within } = element
          if (name === "entry") return element.attributes["kind"] === "file" && add(last, "added")
          if (name === "name" && within.at(-1) === "entry") last = text
          return false
        })
      : yield* readSvnXml(
          session,
          ["diff", "--summarize", "--old", pegged(from.url, from.revision), "--new", pegged(head.url, head.revision)],
          ({ attributes, name, text }) => {
            const path = name === "path" ? (pathBelow(head.url, text) ?? pathBelow(from.url, text)) : undefined
            if (path === undefined) return false
            const { item, kind, props } = attributes
            const hasProperties = props === "modified" || (props !== undefined && props !== "none" && item === "none")
            const over = kind === "file" && isStatus(item) && path !== "" && add(path, item)
            return (
              over ||
              (hasProperties && item !== "added" && item !== "deleted" && add(toPropertiesPath(path), "modified"))
            )
          }
        )
  if (stopped) return yield* tooManyPaths(maxPaths)
  return found.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
})
const isStatus = (item: string | undefined): item is ChangedPath["status"] =>
  item === "added" || item === "deleted" || item === "modified"

const lookEvery = "250 millis"

/** Ends the export when its files are larger than the limit. */
export const exportSvn = Effect.fnUntraced(function* (
  session: SvnSession,
  info: SvnInfo,
  folder: string,
  maxBytes: number
) {
  const exporting = runSvn(
    session,
    [
      ..."export --quiet --force --ignore-externals --ignore-keywords -r".split(" "),
      info.revision,
      pegged(info.url, info.revision),
      folder
    ],
    65_536,
    contentMillis
  ).pipe(Effect.as(Option.none<number>()))
  const growing = Effect.gen(function* () {
    while (true) {
      yield* Effect.sleep(lookEvery)
      const bytes = yield* io("export", () => measureBytes(folder))
      if (bytes > maxBytes) return Option.some(bytes)
    }
  })
  const over = yield* Effect.raceFirst(exporting, growing)
  const bytes = Option.getOrElse(over, () => 0) || (yield* io("export", () => measureBytes(folder)))
  if (bytes > maxBytes) return yield* tooLargeTree(bytes, maxBytes)
})

export const tooLargeTree = (bytes: number, maxBytes: number) =>
  new CheckoutError({
    reason: "limit",
    message: `its files are larger than ${Math.floor(maxBytes / 1_048_576)} MiB (over ${Math.floor(bytes / 1_048_576)} MiB were fetched)`
  })
