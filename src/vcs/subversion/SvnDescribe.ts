/**
 * Reads what a repository records about revisions: author, message, and the branches that they change with their previous revisions. One
 * log describes many of them, because a burst of reports names neighbours.
 */
import { Effect, Result } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { ChangedStream } from "../../domain/ChangedStream.ts"
import type { Described, SubmittedChange } from "../SubmittedChanges.ts"
import type { ReadFacts, SvnFacts } from "./SvnFacts.ts"
import { readInfo } from "./SvnInfo.ts"
import { maxLogPaths, readLog } from "./SvnLog.ts"
import type { Log } from "./SvnLog.ts"
import { readSvnXml } from "./SvnProcess.ts"
import type { RecentChanges } from "./SvnRecent.ts"
import type { SvnSession } from "./SvnSession.ts"
import { findStreams } from "./SvnStreams.ts"
import type { LoggedStream } from "./SvnStreams.ts"
import { joinUrl, pathBelow, pegged } from "./SvnUrl.ts"

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

/** Divides revisions, the newest first, into those that one log describes. Pure. */
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
export const describeRevisions = Effect.fnUntraced(function* (
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
