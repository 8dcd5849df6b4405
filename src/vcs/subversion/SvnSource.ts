/**
 * `FileSource` over svn. The compared states are the branch at the head and the same branch at the base, at its location then: svn follows its
 * history through renames and copies.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ChangedPath, Revision, ServerCheckoutRequest } from "../Checkout.ts"
import type { FileSource } from "../server/FileSource.ts"
import { readAhead, takeChanges } from "./SvnAhead.ts"
import type { Ahead } from "./SvnAhead.ts"
import { readSvnBlame } from "./SvnBlame.ts"
import { exportSvn } from "./SvnExport.ts"
import type { SvnFile } from "./SvnFiles.ts"
import type { ReadFacts } from "./SvnFacts.ts"
import { readInfo } from "./SvnInfo.ts"
import type { SvnEnd, SvnEnds } from "./SvnInfo.ts"
import { listFolders } from "./SvnListing.ts"
import type { SvnTree } from "./SvnListing.ts"
import { contentMillis, runSvn, readSvnXml } from "./SvnProcess.ts"
import type { SvnSession } from "./SvnSession.ts"
import type { RecentChanges } from "./SvnRecent.ts"
import { isPropertiesPath } from "./SvnProperties.ts"
import { makeSides, toSides } from "./SvnSides.ts"
import { joinUrl, pegged } from "./SvnUrl.ts"
import { maxSteps, toTitle } from "../server/Steps.ts"
import type { StepName } from "../server/Steps.ts"

/** Lists the revisions of a range that changed a branch, for reviews of each of them. */

/** Returns them oldest first; undefined if there are too many or the range has no start. */
const readSteps = Effect.fnUntraced(function* (
  session: SvnSession,
  url: string,
  head: string,
  start: string
): Effect.fn.Return<ReadonlyArray<StepName> | undefined, CheckoutError> {
  if (start === "0") return undefined
  const found: Array<StepName> = []
  let message = ""
  const range = `${head}:${Number(start) + 1}`
  yield* readSvnXml(
    session,
    ["log", "--limit", String(maxSteps + 1), "-r", range, pegged(url, head)],
    ({ attributes, name, text }) => {
      if (name === "msg") message = text
      if (name !== "logentry") return
      found.push({ id: attributes["revision"] ?? "", title: toTitle(message) })
      message = ""
    }
  )
  return found.length > maxSteps ? undefined : found.toReversed()
})

const maxMessages = 50

export const openSvnSource = Effect.fnUntraced(function* (
  session: SvnSession,
  request: ServerCheckoutRequest,
  readFacts: ReadFacts,
  recent?: RecentChanges
): Effect.fn.Return<FileSource, CheckoutError, Scope.Scope> {
  const { base, branch, head, headOnly } = request
  if (!/^\d{1,18}$/.test(head) || !/^\d{1,18}$/.test(base)) {
    return yield* new CheckoutError({
      reason: "failed",
      why: { _tag: "InvalidRevisions", revision: head, other: base }
    })
  }
  const url = joinUrl(session.server.url, branch)
  const start = headOnly === true ? yield* findStart(session, url, head, base) : base
  const steps = Effect.map(readSteps(session, url, head, start), (found) =>
    found?.map(({ id, title }, index) => ({
      id,
      title,
      open: openSvnSource(
        session,
        { ...request, head: id, base: found[index - 1]?.id ?? start, headOnly: undefined },
        readFacts
      )
    }))
  )
  const change = recent === undefined ? undefined : yield* recent.find(session, branch, head, start)
  const ahead = yield* readAhead(session, { head: { url, revision: head }, from: { url, revision: start } }, change)
  const [facts, history] = yield* Effect.all([Effect.result(readFacts(session, head)), Effect.result(ahead.history)], {
    concurrency: 2
  })
  if (start !== "0" && facts._tag === "Success" && facts.success !== undefined && history._tag === "Success") {
    const pathInRepository = joinPath(facts.success.pathInRepository, branch)
    if (!history.success.mayBeReplaced(pathInRepository)) {
      const at = (tree: SvnTree): SvnEnd => ({ ...tree, pathInRepository })
      return yield* makeSource(session, { head: at(ahead.plain.head), from: at(ahead.plain.from) }, start, ahead, steps)
    }
  }
  const infoOf = (revision: string) => (revision === "0" ? Effect.undefined : readInfo(session, url, head, revision))
  const [headInfo, from] = yield* Effect.all([readHead(session, url, head), infoOf(start)], { concurrency: 2 })
  // The branch was elsewhere in a part of the range.
  return yield* makeSource(session, { head: headInfo, from }, start, ahead, Effect.undefined)
})

const joinPath = (parent: string, path: string): string => [parent, path].filter((one) => one !== "").join("/")

const readHead = Effect.fnUntraced(function* (session: SvnSession, url: string, head: string) {
  const info = yield* readInfo(session, url, head, head)
  if (info !== undefined) return info
  return yield* new CheckoutError({ reason: "missing", why: { _tag: "NotInRevision", url, revision: head } })
})

/** Returns the base of a review of the newest change of the branch alone. */
const findStart = Effect.fnUntraced(function* (session: SvnSession, url: string, head: string, base: string) {
  const { lastChanged } = yield* readHead(session, url, head)
  return String(Math.max(Number(base), Number(lastChanged) - 1))
})

const makeSource = Effect.fnUntraced(function* (
  session: SvnSession,
  ends: SvnEnds,
  base: string,
  ahead: Ahead,
  steps: FileSource["steps"]
): Effect.fn.Return<FileSource, never, Scope.Scope> {
  const { history, listings } = ahead
  const endAt = (at: Revision) => (at === "head" ? ends.head : ends.from)
  const { addSizes, properties, sizeOf, ...sides } = makeSides(session, ends, listings)
  const scope = yield* Effect.scope
  /** Lists the folders of the existing changed files, where a review looks for rules. */
  const listAhead = (changes: ReadonlyArray<ChangedPath>) => {
    const { from } = ends
    const existing = changes.flatMap(({ path, status }) => (status === "added" ? [] : [path]))
    const folders = from === undefined ? Effect.void : listings.readAhead(from, listFolders(existing))
    return Effect.forkIn(Effect.ignore(folders), scope, { startImmediately: true })
  }
  const source: FileSource = {
    head: ends.head.revision,
    from: base,
    changes: (maxPaths) =>
      Effect.tap(takeChanges(session, ends, ahead, maxPaths), (changes) => {
        const sizes = sides.setChanges(changes)
        return Effect.andThen(listAhead(changes), Effect.forkIn(sizes, scope, { startImmediately: true }))
      }),
    sizes: Effect.fnUntraced(function* (paths) {
      yield* addSizes(paths.flatMap(toSides).filter(({ path }) => !isPropertiesPath(path)))
      return paths.map((path) => Math.max(0, ...toSides(path).map(sizeOf)))
    }),
    contents: sides.contents,
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
    steps,
    messages: Effect.map(history, ({ messages }) => messages.slice(-maxMessages)),
    exportTo: (folder, maxBytes) => exportSvn(session, ends.head, folder, maxBytes)
  }
  return source
})

/** Reads one file; undefined if it does not exist or is larger. */
const readFile = (session: SvnSession, { revision, url }: SvnFile, maxBytes: number) =>
  runSvn(session, ["cat", "--ignore-keywords", "-r", revision, pegged(url, revision)], maxBytes, contentMillis).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "missing",
      () => Effect.undefined
    )
  )
