/**
 * Finds submitted changelists of Perforce and revisions of Subversion that no hook reported: hooks call once more at most, and what was
 * submitted while the service or the network was down stays unreported. One list of the server shows what is above the mark of a trigger
 * (`CatchUps`). A change without a report becomes a routing receipt like that of a hook, which `DepotRouting` takes from there; a report that
 * comes later finds its review.
 *
 * Receipts are stored first, then the search is recorded, then its marks. After a crash in between, the receipts are the reports of their
 * changes.
 */
import { Array as Arr, Clock, Duration, Effect, Result } from "effect"
import { listWatchedPaths } from "../../src/admission/AdmitSubmitted.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot, TriggerProfile } from "../../src/config/Snapshot.ts"
import type { StoreError } from "../../src/database/StoreError.ts"
import type { CatchUpOccasion } from "../../src/domain/CatchUpOccasion.ts"
import { newId } from "../../src/domain/Ids.ts"
import { deliveryKey } from "../../src/domain/Keys.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { fillableBy } from "../../src/queue/FoundEvents.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import { logDecision } from "../../src/store/LogDecision.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { EventRecord } from "../../src/store/Receipts.ts"
import { CheckoutError } from "../../src/vcs/Checkout.ts"
import { toTriggerServer } from "../../src/vcs/ConfiguredServer.ts"
import { SubmittedChanges } from "../../src/vcs/SubmittedChanges.ts"
import type { SubmittedRevision, ListedChanges, ListRequest } from "../../src/vcs/SubmittedChanges.ts"
import { NewReports } from "./NewReports.ts"
import { findTriggers } from "./SelectTriggers.ts"

/**
 * Selects the submitted changes that are reviewed although no hook reported them, within the limits of a trigger. Pure.
 *
 * Time in milliseconds after its commit in which a change may be reported: a hook calls within a minute. A server may also list a change
 * of another path a moment later than one with a greater number.
 */
export const reportMillis = 120_000

interface MissedLimits {
  readonly isReported: (change: SubmittedRevision) => boolean
  /** Leaves changes for the next search whose report may still come. */
  readonly waitsForReports: boolean
  readonly maxAgeMillis: number
  readonly maxChanges: number
  readonly now: number
}

interface Missed {
  /** Oldest first. */
  readonly chosen: ReadonlyArray<SubmittedRevision>
  /** Number of changes that are too old, or too many. */
  readonly skipped: number
  /** Changes up to this number need not be listed again. */
  readonly mark: number
}

/** `changes`: the newest first. The clock of the server may be ahead: a change in the future waits for nothing. */
export const selectMissed = (
  changes: ReadonlyArray<SubmittedRevision>,
  { isReported, maxAgeMillis, maxChanges, now, waitsForReports }: MissedLimits
): Missed => {
  const isYoung = ({ at }: SubmittedRevision) => at !== undefined && at <= now && now - at < reportMillis
  const missed = changes.filter((one) => !isReported(one) && !(waitsForReports && isYoung(one)))
  const recent = missed.filter(({ at }) => at === undefined || now - at <= maxAgeMillis)
  const chosen = recent.slice(0, maxChanges)
  const oldestYoung = changes.findLast(isYoung)
  return {
    chosen: chosen.toReversed(),
    skipped: missed.length - chosen.length,
    mark: oldestYoung === undefined ? Number.MAX_SAFE_INTEGER : oldestYoung.revision - 1
  }
}

/** Timeout of a list. */
const listSeconds = 120
/** Changes that are listed per path; those before them are neither reviewed nor counted. */
const maxListed = 10_000
/** Revisions whose reports are read together: a report may name a thousand files. */
const readAtOnce = 100

interface DepotSearch {
  readonly trigger: TriggerProfile
  readonly occasion: CatchUpOccasion
  /** End of the last recorded search: what was stored since then is not recorded as found. */
  readonly searchedAt: number | undefined
  readonly tally: { found: number; skipped: number }
  /** New marks, which are stored once the search is recorded: until then, what it found is above them and is counted again. */
  readonly marks: Array<Parameters<CatchUps["Service"]["mark"]>[0]>
}

/** Stores receipts of the changes that no hook of the trigger reported, and adds the new marks. Returns why it could not take all of them. */
export const searchDepot = Effect.fnUntraced(function* (
  search: DepotSearch
): Effect.fn.Return<Reason | undefined, StoreError, CatchUps | ConfigStore | Receipts | SubmittedChanges> {
  const { trigger } = search
  const snapshot = (yield* ConfigStore).current()
  const server = toTriggerServer(trigger, snapshot)
  if (server === undefined || "_tag" in server)
    return { _tag: "ServerNotReadable", reason: server ?? { _tag: "OwnerTrigger", trigger: trigger.name } }
  const scopes = listScopes(server, snapshot, trigger)
  if (scopes.length === 0) return undefined
  const before = new Map((yield* (yield* CatchUps).marks(trigger.name)).map(({ mark, scope }) => [scope, mark]))
  const paths = scopes.map(({ path, scope }) => ({ path, after: before.get(scope) }))
  const listed = yield* Effect.result(listChanges(server, paths))
  if (Result.isFailure(listed)) {
    const { reason: failure, why } = listed.failure
    return { _tag: "ServerFailed", failure, trigger: trigger.name, reason: why }
  }
  const { failure, mark } = yield* storeMissed(search, snapshot, listed.success)
  for (const { path, scope } of scopes) {
    const newest = Math.min(listed.success.newest.get(path) ?? 0, mark)
    if (newest > (before.get(scope) ?? -1)) search.marks.push({ trigger: trigger.name, scope, mark: newest })
  }
  return failure
})

/** Another server, and another path, is another scope: it begins with its newest change. */
const listScopes = (server: ListRequest["server"], snapshot: Snapshot, trigger: TriggerProfile) =>
  server.vcs === "subversion"
    ? [{ path: "", scope: server.url }]
    : listWatchedPaths(snapshot, trigger).map((path) => ({ path, scope: `${server.port} ${path}` }))

const listChanges = Effect.fnUntraced(function* (
  server: ListRequest["server"],
  paths: ReadonlyArray<{ readonly path: string; readonly after: number | undefined }>
) {
  const timeout = new CheckoutError({ reason: "unreachable", why: { _tag: "ServerSlow", seconds: listSeconds } })
  return yield* (yield* SubmittedChanges)
    .list({ server, paths, limit: maxListed })
    .pipe(Effect.timeoutOrElse({ duration: Duration.seconds(listSeconds), orElse: () => timeout }))
})

/** Returns the number up to which changes need not be listed again, and why some wait. */
const storeMissed = Effect.fnUntraced(function* (
  search: DepotSearch,
  snapshot: Snapshot,
  { changes, repository }: ListedChanges
): Effect.fn.Return<{ readonly mark: number; readonly failure: Reason | undefined }, StoreError, Receipts> {
  const { occasion, tally, trigger } = search
  if (changes.length === 0) return { mark: Number.MAX_SAFE_INTEGER, failure: undefined }
  const now = yield* Clock.currentTimeMillis
  const { reported, unrecorded } = yield* readReports(search, snapshot, changes, repository)
  const { max_age_hours, max_changes } = trigger.settings.catch_up
  const missed = selectMissed(changes, {
    isReported: ({ revision }) => reported.has(revision),
    waitsForReports: occasion === "beat",
    maxAgeMillis: max_age_hours * 3_600_000,
    maxChanges: max_changes,
    now
  })
  const room = missed.chosen.length === 0 ? 0 : yield* countRoom(snapshot)
  const taken = missed.chosen.slice(0, room)
  const [left] = missed.chosen.slice(room)
  tally.found += unrecorded + (yield* storeReports(search, taken, now))
  tally.skipped += missed.skipped
  if (left === undefined) return { mark: missed.mark, failure: undefined }
  const failure: Reason = { _tag: "ReportsWait", count: missed.chosen.length - taken.length }
  return { mark: Math.min(missed.mark, left.revision - 1), failure }
})

/**
 * Returns which changes have a report, and how many of these reports an earlier search stored without being recorded. A report that failed is
 * none, because its change was not decided.
 */
const readReports = Effect.fnUntraced(function* (
  { searchedAt = 0, trigger }: DepotSearch,
  snapshot: Snapshot,
  changes: ReadonlyArray<SubmittedRevision>,
  repository: string | undefined
) {
  const receipts = yield* Receipts
  const reported = new Set<number>()
  let unrecorded = 0
  for (const part of Arr.chunksOf(changes, readAtOnce)) {
    const times = new Map(part.map(({ at, revision }) => [String(revision), at]))
    for (const event of yield* receipts.reported(trigger.kind, [...times.keys()])) {
      const { deliveryKey: key, outcome, outcomeReason, receivedAt, routing } = event
      if (routing === undefined || routing.isShelfDeleted === true || outcome === "failed") continue
      const why = outcomeReason?._tag
      if (why === "ReportedChangelistUnknown" || why === "ReportedRevisionUnknown") continue
      const at = times.get(routing.revision)
      // A shelved changelist may keep its number when it is submitted.
      const isOfShelf = routing.vcs === "perforce" && routing.base === undefined && at !== undefined && receivedAt < at
      if (isOfShelf || !findTriggers(routing, snapshot).some(({ name }) => name === trigger.name)) continue
      const { repository: own } = routing
      if (own !== undefined && !own.includes("://") && own !== repository) continue
      reported.add(Number(routing.revision))
      if (key === keyOf(trigger, routing.revision) && receivedAt > searchedAt) unrecorded++
    }
  }
  return { reported, unrecorded }
})

/** Returns how many receipts may wait in addition to those that do. */
const countRoom = Effect.fnUntraced(function* ({ document: { queue } }: Snapshot) {
  const counts = yield* (yield* Receipts).countUnrouted
  const waiting = counts.reduce((sum, { count, workspaces }) => (workspaces === undefined ? sum + count : sum), 0)
  return Math.max(0, fillableBy(queue.limits.per_workspace) - waiting)
})

const keyOf = ({ kind, name }: TriggerProfile, revision: string) => deliveryKey(kind, `catch-up:${name}:${revision}`)

/** Returns the number of changes that were not stored before. */
const storeReports = Effect.fnUntraced(function* (
  search: DepotSearch,
  changes: ReadonlyArray<SubmittedRevision>,
  now: number
) {
  if (changes.length === 0) return 0
  const records = changes.map((change) => toRecord(search, change, now))
  const stored = (yield* (yield* Receipts).storeAll(records)).map(({ _tag }) => _tag === "Stored")
  for (const [at, record] of records.entries())
    if (stored[at] === true) yield* logDecision(record, { eventId: record.id, decision: "queued", reason: undefined })
  ;(yield* NewReports).notify()
  return stored.filter((isNew) => isNew).length
})

const toRecord = (
  { occasion, trigger }: DepotSearch,
  { author, revision }: SubmittedRevision,
  receivedAt: number
): EventRecord => ({
  id: newId(),
  deliveryKey: keyOf(trigger, String(revision)),
  provider: trigger.kind,
  event: "catch_up",
  action: occasion,
  trigger: trigger.name,
  workspace: undefined,
  targetKind: "commit",
  targetKey: undefined,
  repo: undefined,
  facts: { head: String(revision), author, sender: author },
  decision: "queued",
  reason: undefined,
  rule: { _tag: "FoundWithoutReport", trigger: trigger.name },
  work: undefined,
  routing: {
    vcs: trigger.kind === "perforce" ? "perforce" : "subversion",
    trigger: trigger.name,
    revision: String(revision),
    user: author,
    files: []
  },
  receivedAt
})
