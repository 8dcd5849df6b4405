/**
 * Sweeps, one in the cluster: finds after a crash everything that waits, in whatever state. Steps, at start and then periodically:
 *
 * - reclaims leases that ran out or whose process no longer exists (the latter within seconds, between sweeps);
 * - requeues receipts without an outcome (idempotent);
 * - expires automatic work that waited longer than queued_timeout_hours, and notifies chat groups;
 * - sets a final status on commits whose review ended without a result;
 * - wakes schedulers with work and publishers with open rows or open runs;
 * - completes the statistics, and removes records beyond the retention limits.
 */
import { Cause, Clock, DateTime, Duration, Effect, Exit, Metric } from "effect"
import { Singleton } from "effect/cluster"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { EventOutcome } from "../../src/domain/Decision.ts"
import { isTerminal } from "../../src/domain/Entry.ts"
import type { Entry, EntryStatus } from "../../src/domain/Entry.ts"
import { afterEveryLease } from "../../src/domain/FencingToken.ts"
import type { RunStatus } from "../../src/domain/Run.ts"
import { expiredVerdict } from "../../src/domain/HeadVerdict.ts"
import type { RunVerdict } from "../../src/domain/HeadVerdict.ts"
import { LiveNodes } from "../../src/domain/LiveNodes.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { limitWarning } from "../../src/observability/LimitedWarnings.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import { enqueue } from "../../src/queue/Enqueue.ts"
import { selectUnreviewed } from "../../src/queue/UnreviewedHeads.ts"
import type { AdmittedChange } from "../../src/queue/UnreviewedHeads.ts"
import { statusEnd } from "../../src/outputs/StatusEnd.ts"
import { expiryCutoffs, queuedTimeoutHours } from "../../src/queue/ExpiryCutoffs.ts"
import { Queue, QueueError } from "../../src/queue/Queue.ts"
import { AdminActions, maxAdminActions } from "../../src/store/AdminActions.ts"
import { AgentPasses } from "../../src/store/AgentPasses.ts"
import { Lessons } from "../../src/store/Lessons.ts"
import { Notices } from "../../src/store/Notices.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Payloads } from "../../src/store/Payloads.ts"
import { PullBases } from "../../src/store/PullBases.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import { RejectedSignatures } from "../../src/store/RejectedSignatures.ts"
import { RunLogs } from "../../src/store/RunLogs.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { Run } from "../../src/store/Runs.ts"
import { countStart } from "../ActorStarts.ts"
import { closeLostReservations, pruneLedger } from "../limits/BudgetLedger.ts"
import { publishers } from "../publishing/ChangePublisher.ts"
import { pruneEvidence } from "./EvidenceRetention.ts"
import type { ShardGroup } from "../Placement.ts"
import { logEnded, withStory } from "../review/RunLog.ts"
import { keepStatistics } from "./StatisticsRetention.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"

const sweepEvery = Duration.seconds(15)
/** Poll interval of processes that have ended. */
const goneEvery = Duration.millis(500)
const pruneEvery = Duration.minutes(10)
/** Longer than the interval between two sweeps. The first sweep of a process covers more. */
const endedWithin = Duration.minutes(2)
/** Runs after a lost one among which the next attempt of its entry is searched. */
const attempts = 20
/** Receipts read per page while requeueing. */
const page = 500
/** Their keys keep facts from being announced again, so that they are kept regardless of the retention of events. */
const maxNotices = 50_000
const noticeRetentionMillis = Duration.toMillis("90 days")
/** Timeout of messages to other actors. */
const messageTimeout = Duration.seconds(10)

/** Runs before the receipts get their outcome, so that the next sweep retries what fails here. */
const noteExpired = Effect.fnUntraced(function* ({ id, targetKey: target }: Entry) {
  const publisher = (yield* publishers)(target)
  if (yield* publisher.NoteExpired({ entryId: id }).pipe(Effect.timeout(messageTimeout))) return
  yield* new QueueError({ reason: "unavailable", why: { _tag: "ExpiryNotRecorded", entry: id } })
})

/** Settles a receipt whose entry ended before a crash prevented it. */
const settleEnded = Effect.fnUntraced(function* (eventId: string, entryId: string) {
  const entry = yield* (yield* Queue).get(entryId)
  if (entry === undefined || !isTerminal(entry.status)) return
  if (entry.status === "expired") yield* noteExpired(entry)
  const outcome = outcomeOf[entry.status] ?? "executed"
  yield* (yield* Receipts).settle([eventId], { outcome, reason: entry.reason }, yield* Clock.currentTimeMillis)
})

const outcomeOf: Partial<Record<EntryStatus, EventOutcome>> = {
  superseded: "superseded",
  cancelled: "cancelled",
  expired: "expired",
  dead: "failed"
}

/** Requeues receipts without an outcome, and marks heads that were never reviewed for them. `before` excludes deliveries that are still being queued. */
const requeue = Effect.fnUntraced(function* (before: number) {
  const receipts = yield* Receipts
  let after: string | undefined
  while (true) {
    const events = yield* receipts.unsettled(after, page)
    const last = events.at(-1)
    if (last === undefined) return
    after = last.id
    const waiting: Array<AdmittedChange> = []
    yield* each(
      events,
      ({ id }) => ({ event_id: id }),
      (event) =>
        Effect.map(requeueOne(event, before), (admitted) => {
          if (admitted !== undefined) waiting.push(admitted)
        })
    )
    const publisherOf = yield* publishers
    yield* each(
      yield* selectUnreviewed(waiting),
      ({ entryId }) => ({ entry_id: entryId }),
      ({ change, entryId }) => publisherOf(targetKey(change)).Unreviewed({ entryId }, { discard: true })
    )
  }
})

/** Returns the queued change. */
const requeueOne = Effect.fnUntraced(function* ({ id, work, receivedAt }: StoredEvent, before: number) {
  if (work === undefined || receivedAt > before) return undefined
  const receipts = yield* Receipts
  const { change, command, configHash, priority, dueAt } = work
  const pinned = yield* (yield* ConfigStore).pinned(configHash)
  if (!pinned.workspaces.has(change.workspace)) {
    // Another node may have the configuration of the delivery.
    if (pinned.hash !== configHash) return undefined
    const reason: Reason = { _tag: "WorkspaceUnconfigured", workspace: change.workspace }
    yield* receipts.settle([id], { outcome: "cancelled", reason }, yield* Clock.currentTimeMillis)
    return undefined
  }
  if (command !== undefined) {
    const publisherOf = yield* publishers
    yield* publisherOf(targetKey(change)).Command({ eventId: id }, { discard: true })
    return undefined
  }
  const [admitted] = yield* enqueue([{ eventId: id, change, configHash, priority, dueAt, admittedAt: receivedAt }])
  if (admitted?.status === "duplicate") yield* settleEnded(id, admitted.entryId)
  return admitted && { entryId: admitted.entryId, change }
})

const entryFields = ({ id, workspace }: Entry) => ({ entry_id: id, workspace })

const reclaim = Effect.fnUntraced(function* (now: number) {
  const queue = yield* Queue
  const lost = yield* (yield* LiveNodes).lost
  const receipts = yield* Receipts
  yield* each(yield* queue.reclaim(now, lost), entryFields, ({ id, status, events, reason, targetKey: target }) => {
    const outcome = outcomeOf[status]
    return Effect.andThen(
      Effect.logWarning("queue entry of a lost worker released", { entry_id: id, target, status, reason }),
      outcome === undefined ? Effect.void : receipts.settle(events, { outcome, reason }, now)
    )
  })
})

/** Ends runs whose process died and whose entry the queue no longer has. Another run replaces them. */
const abandon = Effect.fnUntraced(function* (now: number) {
  const queue = yield* Queue
  const runs = yield* Runs
  const abandonOne = Effect.fnUntraced(function* (run: Run) {
    const entry = yield* queue.get(run.entryId)
    if (entry !== undefined && !isTerminal(entry.status)) return
    const following = yield* runs.list({
      targetKey: run.targetKey,
      after: run.id,
      oldestFirst: true,
      limit: attempts
    })
    const [to, reason, verdict] = abandonedAs(run, entry, following)
    if (yield* runs.move(run.id, afterEveryLease, to, now, reason, verdict))
      yield* withStory(logEnded(run, to, reason), run)
  })
  const statuses = ["queued", "preparing", "analyzing"] as const
  yield* each(yield* runs.list({ statuses, limit: statuses.length * page }), ({ id }) => ({ run_id: id }), abandonOne)
})

/** Returns the final status of a run whose entry ended while the run waited or was in progress, its reason, and a verdict of its own. */
const abandonedAs = (
  run: Run,
  entry: Entry | undefined,
  following: ReadonlyArray<Run>
): readonly [RunStatus, Reason | undefined, RunVerdict | undefined] => {
  // A later attempt of the entry reviewed the head that the host had by then.
  if (entry?.status === "done" && following.some(({ entryId, head }) => entryId === entry.id && head !== run.head))
    return ["skipped", { _tag: "SupersededRun" }, undefined]
  switch (entry?.status) {
    case "cancelled":
      return ["cancelled", entry.reason, undefined]
    case "superseded":
      return ["skipped", { _tag: "SupersededRun" }, undefined]
    case "expired":
      return ["skipped", entry.reason, expiredVerdict(run.verdict)]
    default:
      return ["failed", { _tag: "ProcessLost" }, undefined]
  }
}

/** Sets a final status on commits whose review started and ended without a result, because its process may have died before that. */
const endStatuses = Effect.fnUntraced(function* (now: number, endedSince: number) {
  const runs = yield* Runs
  const outbox = yield* Outbox
  const endOne = Effect.fnUntraced(function* (run: Run) {
    if (run.finishedAt === undefined || run.finishedAt < endedSince) return
    const [newest] = yield* runs.list({ targetKey: run.targetKey, limit: 1 })
    const row = statusEnd(run, yield* outbox.ofRun(run.id), newest)
    if (row !== undefined) yield* outbox.add([row], now)
  })
  const statuses = ["failed", "timeout", "cancelled", "skipped"] as const
  yield* each(yield* runs.list({ statuses, limit: statuses.length * page }), ({ id }) => ({ run_id: id }), endOne)
})

const expire = Effect.fnUntraced(function* (now: number) {
  const queue = yield* Queue
  const receipts = yield* Receipts
  const snapshot = (yield* ConfigStore).current()
  const expired = yield* queue.expire(expiryCutoffs(snapshot, now), { _tag: "QueuedTimeout" })
  const settleExpired = Effect.fnUntraced(function* (entry: Entry) {
    yield* Effect.logWarning("queue entry expired: it waited for longer than queued_timeout_hours").pipe(
      Effect.annotateLogs({
        target: entry.targetKey,
        hours: queuedTimeoutHours(snapshot, entry.workspace)
      })
    )
    yield* noteExpired(entry)
    yield* receipts.settle(entry.events, { outcome: "expired", reason: { _tag: "QueuedTimeout" } }, now)
  })
  yield* each(expired, entryFields, settleExpired)
})

const measure = Effect.fnUntraced(function* (now: number) {
  const { byStatus, oldestWaiting } = yield* (yield* Queue).stats
  for (const status of ["waiting", "ready", "running"] as const) {
    yield* Metric.update(Metric.withAttributes(Metrics.queueDepth, { status }), byStatus[status])
  }
  yield* Metric.update(Metrics.queueOldest, oldestWaiting === undefined ? 0 : (now - oldestWaiting) / 1000)
})

const wakeAll = Effect.gen(function* () {
  const schedulerOf = yield* WorkspaceScheduler.client
  const publisherOf = yield* publishers
  const queue = yield* Queue
  const outbox = yield* Outbox
  const runs = yield* Runs
  yield* each(
    yield* queue.workspaces,
    (workspace) => ({ workspace }),
    (workspace) => schedulerOf(workspace).Wake(undefined, { discard: true })
  )
  const publishing = yield* runs.list({ statuses: ["publishing"], limit: 1000 })
  const targets = new Set([...(yield* outbox.targets), ...publishing.map((run) => run.targetKey)])
  yield* each(
    targets,
    (target) => ({ target }),
    (target) => publisherOf(target).Publish(undefined, { discard: true })
  )
})

/** Removes records beyond the retention limits. */
export const prune = Effect.fnUntraced(function* (now: number) {
  const { retention } = (yield* ConfigStore).current().document.storage
  const before = (months: number) => DateTime.toEpochMillis(DateTime.subtract(DateTime.makeUnsafe(now), { months }))
  const keep = ({ max_age_months, max_count }: { readonly max_age_months: number; readonly max_count: number }) => ({
    maxCount: max_count,
    before: before(max_age_months)
  })
  yield* step("prune events", Effect.asVoid(Receipts.use((receipts) => receipts.prune(keep(retention.events)))))
  const { before: countedFrom } = keep(retention.events)
  yield* step("prune rejected signatures", Effect.asVoid(RejectedSignatures.use((counts) => counts.prune(countedFrom))))
  const { max_age_days: days, max_count: maxCount } = retention.payloads
  const kept = { maxCount, before: now - Duration.toMillis(Duration.days(days)) }
  yield* step("prune payloads", Effect.asVoid(Payloads.use((payloads) => payloads.prune(kept))))
  yield* step("prune pull requests", Effect.asVoid(PullBases.use((bases) => bases.prune(keep(retention.events)))))
  const actions = { maxCount: maxAdminActions, before: before(retention.config_revisions.max_age_months) }
  yield* step("prune actions of administrators", Effect.asVoid(AdminActions.use((log) => log.prune(actions))))
  const keptNotices = { maxCount: maxNotices, before: now - noticeRetentionMillis }
  yield* step("prune notices", Effect.asVoid(Notices.use((notices) => notices.prune(keptNotices))))
  yield* step("statistics", keepStatistics(now))
  yield* step("prune runs", Effect.asVoid(Runs.use((runs) => runs.prune(keep(retention.recent_runs)))))
  const { before: recordedFrom } = keep(retention.recent_runs)
  yield* step("prune logs of runs", Effect.asVoid(RunLogs.use((logs) => logs.prune(recordedFrom))))
  yield* step("prune agent passes", Effect.asVoid(AgentPasses.use((passes) => passes.prune(recordedFrom))))
  yield* step("prune queue", Effect.asVoid(Queue.use((queue) => queue.prune(keep(retention.queue)))))
  yield* step("prune lessons", Effect.asVoid(Lessons.use((lessons) => lessons.prune(now))))
  yield* step("prune ledger", pruneLedger(now))
  yield* step("prune evidence", Effect.asVoid(pruneEvidence))
})

/** `lookBack`: age of the oldest runs that ended without a result whose status is checked. */
const sweep = Effect.fnUntraced(function* (grace: Duration.Duration, lookBack: Duration.Duration) {
  const now = yield* Clock.currentTimeMillis
  yield* step("reclaim", reclaim(now))
  yield* step("requeue", requeue(now - Duration.toMillis(grace)))
  yield* step("abandon", abandon(now))
  yield* step("statuses", endStatuses(now, now - Duration.toMillis(lookBack)))
  yield* step("reservations", closeLostReservations(now))
  yield* step("expire", expire(now))
  yield* step("wake", wakeAll)
  yield* step("measure", measure(now))
})

/**
 * Releases what processes held that have ended since they were last released, without waiting for the next sweep. What fails is repeated
 * until a sweep has tried it too.
 */
const releaseGone = Effect.fnUntraced(function* (released: Set<string>) {
  const gone = [...(yield* (yield* LiveNodes).gone)].filter((owner) => !released.has(owner))
  if (gone.length === 0) return
  const now = yield* Clock.currentTimeMillis
  const reclaimed = yield* step("reclaim", reclaim(now))
  const woken = yield* step("wake", wakeAll)
  const closed = yield* step("reservations", closeLostReservations(now))
  if (reclaimed && woken && closed) for (const owner of gone) released.add(owner)
})

/** Sweeps, which releases what the processes that have ended by then held. */
const sweepReleasing = Effect.fnUntraced(function* (released: Set<string>) {
  const gone = yield* (yield* LiveNodes).gone
  yield* sweep(sweepEvery, endedWithin)
  for (const owner of gone) released.add(owner)
})

/** Logs the failure of a step and continues. The next sweep retries it. Returns whether it succeeded. */
const step = <E, R>(name: string, effect: Effect.Effect<void, E, R>): Effect.Effect<boolean, never, R> =>
  Effect.catchCause(Effect.as(effect, true), (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.interrupt
      : limitWarning(`sweep step ${name}`, (suppressed) =>
          Effect.logError("sweep step failed, the next sweep retries it", { step: name, suppressed }, cause)
        ).pipe(Effect.as(false))
  )

/** Failures of single items after which a step ends, because a common cause is likely. */
const maxFailures = 20

/** Processes each item. An item that fails does not stop those after it. */
const each = Effect.fnUntraced(function* <A, E, R>(
  items: Iterable<A>,
  fields: (item: A) => Readonly<Record<string, string>>,
  use: (item: A) => Effect.Effect<void, E, R>
) {
  let failures = 0
  for (const item of items) {
    const exit = yield* Effect.exit(use(item))
    if (Exit.isSuccess(exit)) continue
    if (Cause.hasInterruptsOnly(exit.cause) || ++failures === maxFailures) return yield* Effect.failCause(exit.cause)
    const named = fields(item)
    yield* limitWarning(
      "item of a sweep",
      (suppressed) =>
        Effect.logWarning("item of a sweep failed, the next sweep retries it", { ...named, suppressed }, exit.cause),
      JSON.stringify(named)
    )
  }
})

const shardGroup: ShardGroup = "actors"

/** Only the node that sweeps reports the queue's gauges. A node that stops sweeping removes them. */
const removeGauges = Effect.all(
  [
    ...(["waiting", "ready", "running"] as const).map((status) =>
      Metric.update(Metric.withAttributes(Metrics.queueDepth, { status }), 0)
    ),
    Metric.update(Metrics.queueOldest, 0)
  ],
  { discard: true }
)

export const layer = Singleton.make(
  "Housekeeping",
  Effect.gen(function* () {
    yield* countStart("Housekeeping")
    yield* Effect.addFinalizer(() => removeGauges)
    yield* sweep(Duration.zero, Duration.days(1))
    const released = new Set<string>()
    yield* Effect.all(
      [
        Effect.forever(Effect.andThen(Effect.sleep(goneEvery), releaseGone(released))),
        Effect.forever(Effect.andThen(Effect.sleep(sweepEvery), sweepReleasing(released))),
        Effect.forever(
          Effect.andThen(
            Effect.flatMap(Clock.currentTimeMillis, (now) => prune(now)),
            Effect.sleep(pruneEvery)
          )
        )
      ],
      { concurrency: 3, discard: true }
    )
  }).pipe(Effect.scoped),
  { shardGroup }
)
