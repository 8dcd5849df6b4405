/** The adapter of Subversion. Nothing is kept between reviews, except for exports of further repositories. */
import { Effect, Result } from "effect"
import type { Scope } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ServerCheckoutRequest } from "../Checkout.ts"
import { checkOutSource } from "../server/SourceCheckout.ts"
import type { SourceCheckoutOptions } from "../server/SourceCheckout.ts"
import { makeSharedExports } from "../server/SharedExports.ts"
import type { ServerAdapter } from "../server/ServerAdapter.ts"
import type { SubversionServer, VcsServer } from "../server/VcsServer.ts"
import { makeFacts } from "./SvnFacts.ts"
import { readInfo } from "./SvnInfo.ts"
import { readRevisions, maxLogPaths, readLog } from "./SvnLog.ts"
import { makeRecent } from "./SvnRecent.ts"
import { openSession } from "./SvnSession.ts"
import { exportSvn } from "./SvnExport.ts"
import { openSvnSource } from "./SvnSource.ts"
import { joinUrl, pathBelow, pegged } from "./SvnUrl.ts"
import type { ChangedStream } from "../../domain/ChangedStream.ts"
import type { Described, SubmittedChange } from "../SubmittedChanges.ts"
import type { ReadFacts, SvnFacts } from "./SvnFacts.ts"
import type { Log } from "./SvnLog.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { RecentChanges } from "./SvnRecent.ts"
import type { SvnSession } from "./SvnSession.ts"
import { findStreams } from "./SvnStreams.ts"
import type { LoggedStream } from "./SvnStreams.ts"

/** Paths of a revision that are read; filters decide by them. */
const maxPaths = 20_000
/** Paths of all revisions of one log. */
const maxSpanPaths = 100_000
/** Older entries that are read, in which the previous revisions of branches usually are. */
const lookBack = 8
/** A revision that is further from the next one is read by a log of its own. */
const maxGap = 20
const maxSpan = 500
/** Revisions that are read by logs of their own at the same time. */
const atOnce = 4

/**
 * Reads what a repository records about revisions: author, message, and the branches that they change with their previous revisions. One
 * log describes many of them, because a burst of reports names neighbours.
 *
 * Divides revisions, the newest first, into those that one log describes. Pure.
 */
export const toSpans = (revisions: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const spans: Array<Array<string>> = []
  for (const revision of [...new Set(revisions)].toSorted((a, b) => Number(b) - Number(a))) {
    const span = spans.at(-1)
    const isNear =
      span !== undefined &&
      Number(span.at(-1)) - Number(revision) <= maxGap &&
      Number(span[0]) - Number(revision) < maxSpan
    if (isNear) span.push(revision)
    else spans.push([revision])
  }
  return spans
}

interface DescribeParts {
  /** Facts and changes that are kept between requests. */
  readonly readFacts: ReadFacts
  readonly recent: RecentChanges
  /** URLs that are branches of their own. */
  readonly roots: ReadonlyArray<string>
}

/** Describes each revision. A failure is of its own revision. */
const describeRevisions = Effect.fnUntraced(function* (
  session: SvnSession,
  parts: DescribeParts,
  revisions: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyMap<string, Described>, CheckoutError> {
  const described = new Map<string, Described>()
  for (const revision of revisions) if (!isRevision(revision)) described.set(revision, Result.succeed(undefined))
  for (const span of toSpans(revisions.filter(isRevision))) {
    const together = span.length > 1 ? yield* describeSpan(session, parts, span) : new Map<string, SubmittedChange>()
    const alone = Effect.fnUntraced(function* (revision: string) {
      const change = together.get(revision)
      const read = Effect.map(describeSpan(session, parts, [revision]), (found) => found.get(revision))
      described.set(revision, change === undefined ? yield* Effect.result(read) : Result.succeed(change))
    })
    yield* Effect.forEach(yield* withoutFuture(session, span, together, described), alone, {
      concurrency: atOnce,
      discard: true
    })
  }
  return described
})

/** The number of a revision that svn accepts. */
const isRevision = (revision: string): boolean => /^\d{1,18}$/.test(revision) && Number(revision) <= 2_147_483_647

/** Revisions that the repository does not have yet are not read one by one. */
const withoutFuture = Effect.fnUntraced(function* (
  session: SvnSession,
  span: ReadonlyArray<string>,
  together: ReadonlyMap<string, SubmittedChange>,
  described: Map<string, Described>
) {
  if (span.length < 2 || together.size > 0) return span
  const { url } = session.server
  const newest = yield* readInfo(session, url, "HEAD", "HEAD")
  if (newest === undefined) return span
  const isFuture = (revision: string) => Number(revision) > Number(newest.revision)
  for (const revision of span.filter(isFuture)) described.set(revision, Result.succeed(undefined))
  return span.filter((revision) => !isFuture(revision))
})

/** Returns those of the revisions, the newest first, that the log of the URL shows. A single one that the log does not show changes nothing there. */
const describeSpan = Effect.fnUntraced(function* (
  session: SvnSession,
  parts: DescribeParts,
  span: ReadonlyArray<string>
): Effect.fn.Return<ReadonlyMap<string, SubmittedChange>, CheckoutError> {
  const [newest = "", oldest = newest] = [span[0], span.at(-1)]
  const limits = {
    entries: Number(newest) - Number(oldest) + 1 + lookBack,
    pathsPerEntry: maxPaths,
    paths: maxSpanPaths
  }
  const [facts, log] = yield* Effect.all(
    [parts.readFacts(session, newest), orMissing(readLog(session, newest, limits))],
    {
      concurrency: 2
    }
  )
  const changes = new Map<string, SubmittedChange>()
  if (facts === undefined || log === undefined) return changes
  for (const revision of span) {
    const at = log.entries.findIndex((entry) => entry.revision === revision)
    if (at < 0 && span.length > 1) continue
    if (at < 0 && log.isCut) {
      const why = { _tag: "RevisionTooLarge", revision, count: maxLogPaths } as const
      return yield* new CheckoutError({ reason: "limit", why })
    }
    const change = yield* toChange(session, { ...facts, roots: parts.roots }, log, revision, at)
    changes.set(revision, change)
    const entry = log.entries[at]
    if (entry !== undefined)
      yield* Effect.forEach(change.streams, (stream) => parts.recent.remember(session, { entry, stream }))
  }
  return changes
})

const orMissing = <A>(effect: Effect.Effect<A, CheckoutError>) =>
  Effect.catchIf(
    effect,
    ({ reason }) => reason === "missing",
    () => Effect.undefined
  )

const toChange = Effect.fnUntraced(function* (
  session: SvnSession,
  { pathInRepository, roots, uuid }: SvnFacts & Pick<DescribeParts, "roots">,
  log: Log,
  revision: string,
  at: number
): Effect.fn.Return<SubmittedChange, CheckoutError> {
  const entry = log.entries[at]
  const folders = roots.flatMap((root) => pathBelow(session.server.url, root) ?? [])
  const streams = yield* Effect.forEach(findStreams(log, at, pathInRepository, folders), toStream(session, revision))
  return {
    revision,
    state: "submitted",
    client: undefined,
    repository: uuid,
    streams,
    author: entry?.author,
    description: entry?.message ?? ""
  }
})

const toStream =
  (session: SvnSession, revision: string) =>
  ({ isOpen, previous, ...stream }: LoggedStream): Effect.Effect<ChangedStream, CheckoutError> =>
    isOpen
      ? Effect.map(readPrevious(session, joinUrl(session.server.url, stream.branch), revision), (found) => ({
          ...stream,
          previous: found
        }))
      : Effect.succeed({ ...stream, previous })

/** Returns the newest revision before this one that changed the branch, or the one that it was copied from. */
const readPrevious = Effect.fnUntraced(function* (session: SvnSession, url: string, revision: string) {
  const found: Array<string> = []
  yield* readSvnXml(
    session,
    ["log", "--quiet", "--limit", "2", "-r", `${revision}:1`, pegged(url, revision)],
    ({ attributes, name }) => {
      if (name === "logentry") found.push(attributes["revision"] ?? "")
    }
  )
  return found.find((one) => one !== revision && one !== "")
})

const wrongServer = (server: VcsServer) =>
  new CheckoutError({ reason: "failed", why: { _tag: "OtherServerKind", vcs: server.vcs, system: "Subversion" } })

const ofSubversion = (server: VcsServer): Effect.Effect<SubversionServer, CheckoutError> =>
  server.vcs === "subversion" ? Effect.succeed(server) : Effect.fail(wrongServer(server))

export const makeSubversion = Effect.fnUntraced(function* (
  options: SourceCheckoutOptions
): Effect.fn.Return<ServerAdapter, never, Scope.Scope> {
  const { limits, root } = options
  const facts = makeFacts()
  const recent = makeRecent()
  const share = yield* makeSharedExports(options)
  const sessionOf = (server: VcsServer) => Effect.flatMap(ofSubversion(server), (own) => openSession(root, own, limits))

  return {
    checkout: Effect.fn("Subversion.checkout")(function* (request: ServerCheckoutRequest) {
      const session = yield* sessionOf(request.server)
      return yield* checkOutSource(yield* openSvnSource(session, request, facts, recent), options)
    }),
    isAncestor: ({ base, head }) => Effect.succeed(Number(base) <= Number(head)),
    describe: Effect.fn("Subversion.describe")(function* ({ revisions, roots, server }) {
      return yield* describeRevisions(yield* sessionOf(server), { readFacts: facts, recent, roots }, revisions)
    }, Effect.scoped),
    list: Effect.fn("Subversion.list")(function* ({ limit, paths, server }) {
      const session = yield* sessionOf(server)
      const [after] = paths.map((one) => one.after)
      const changes = after === undefined ? [] : yield* readRevisions(session, after, limit)
      const [newest] = after === undefined ? yield* readRevisions(session, 0, 1) : changes
      const number = newest?.revision ?? after ?? 0
      return {
        changes,
        newest: new Map(paths.map(({ path }) => [path, number])),
        // The routing of what is listed needs it too, and finds it.
        repository: changes.length === 0 ? undefined : (yield* facts(session, String(number)))?.uuid,
        isCut: changes.length >= limit
      }
    }, Effect.scoped),
    endedShelves: () => Effect.succeed([]),
    mount: Effect.fn("Subversion.mount")(function* ({ maxBytes, path, revision = "HEAD", server }) {
      const session = yield* sessionOf(server)
      const info = yield* readInfo(session, joinUrl(session.server.url, path), revision, revision)
      if (info === undefined) {
        return yield* new CheckoutError({
          reason: "missing",
          why: { _tag: "NotInRevision", url: session.server.url, revision }
        })
      }
      return yield* share({
        key: JSON.stringify([info.url, info.lastChanged, session.server.username]),
        revision: info.lastChanged,
        maxBytes,
        // In a session of its own, because the export may serve later reviews.
        exportTo: (folder) =>
          Effect.scoped(Effect.flatMap(sessionOf(server), (own) => exportSvn(own, info, folder, maxBytes)))
      })
    })
  }
})
