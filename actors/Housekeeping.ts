/**
 * The sweeper, one in the cluster: whatever state a thing can wait in, this finds it after a crash. At start and then in turn:
 *
 * - leases of processes that are gone (or that ran out) are taken back;
 * - receipts whose outcome is unknown are queued again (repeating that changes nothing);
 * - automatic work that waited longer than queued_timeout_hours is closed, and chat groups are told;
 * - schedulers with work and publishers with open rows or open runs are woken;
 * - records beyond the retention limits are removed.
 */
import { Clock, DateTime, Duration, Effect, Metric } from "effect"
import { Singleton } from "effect/cluster"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import { targetKey } from "../src/domain/Change.ts"
import type { EventOutcome } from "../src/domain/Decision.ts"
import { isTerminal } from "../src/domain/Entry.ts"
import type { Entry, EntryStatus } from "../src/domain/Entry.ts"
import { LiveNodes } from "../src/domain/LiveNodes.ts"
import * as Metrics from "../src/observability/Metrics.ts"
import { enqueue } from "../src/queue/Enqueue.ts"
import { Queue, QueueError } from "../src/queue/Queue.ts"
import { Lessons } from "../src/store/Lessons.ts"
import { Outbox } from "../src/store/Outbox.ts"
import { Receipts } from "../src/store/Receipts.ts"
import { Runs } from "../src/store/Runs.ts"
import { closeLostReservations, pruneLedger } from "./BudgetLedger.ts"
import { ChangePublisher } from "./ChangePublisher.ts"
import { pruneEvidence } from "./EvidenceRetention.ts"
import type { ShardGroup } from "./Placement.ts"
import { WorkspaceScheduler } from "./WorkspaceScheduler.ts"

const sweepEvery = Duration.seconds(15)
const pruneEvery = Duration.minutes(10)
/** Receipts read at a time while queueing again. */
const page = 500
/** Of another actor. */
const answerWithin = Duration.seconds(10)
/** Fencing tokens count up from 1; no worker ever holds this one. */
const afterEveryToken = Number.MAX_SAFE_INTEGER

/** Before its receipts have their outcome: what is not noted then is noted by the next sweep. */
const noteExpired = Effect.fnUntraced(function* ({ id, targetKey: target }: Entry) {
  const publisher = (yield* ChangePublisher.client)(target)
  if (yield* publisher.NoteExpired({ entryId: id }).pipe(Effect.timeout(answerWithin))) return
  yield* new QueueError({ reason: "unavailable", message: `that entry ${id} expired could not be noted` })
})

/** The process died after its entry had ended and before that stood on the receipt. */
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

/** Queues again what was accepted and has no outcome; `before` leaves out deliveries that are still on their way to the queue. */
const requeue = Effect.fnUntraced(function* (before: number) {
  const receipts = yield* Receipts
  const config = yield* ConfigStore
  const publisherOf = yield* ChangePublisher.client
  let after: string | undefined
  while (true) {
    const events = yield* receipts.unsettled(after, page)
    const last = events.at(-1)
    if (last === undefined) return
    after = last.id
    for (const { id, work, receivedAt } of events) {
      if (work === undefined || receivedAt > before) continue
      const gone = !config.current().workspaces.has(work.change.workspace)
      if (gone) {
        const reason = `workspace ${work.change.workspace} is no longer configured`
        yield* receipts.settle([id], { outcome: "cancelled", reason }, yield* Clock.currentTimeMillis)
        continue
      }
      const { change, command, configHash, priority, dueAt } = work
      if (command !== undefined) {
        yield* publisherOf(targetKey(change)).Command({ eventId: id }, { discard: true })
        continue
      }
      const [admitted] = yield* enqueue([{ eventId: id, change, configHash, priority, dueAt, admittedAt: receivedAt }])
      if (admitted?.status === "duplicate") yield* settleEnded(id, admitted.entryId)
    }
  }
})

const reclaim = Effect.fnUntraced(function* (now: number) {
  const queue = yield* Queue
  const lost = yield* (yield* LiveNodes).lost
  const receipts = yield* Receipts
  for (const { id, status, events, reason, targetKey: target } of yield* queue.reclaim(now, lost)) {
    const became = isTerminal(status) ? `is ${status}: ${reason}` : "waits again"
    yield* Effect.logWarning(`Entry ${id} of ${target} lost its worker and ${became}`)
    const outcome = outcomeOf[status]
    if (outcome !== undefined) yield* receipts.settle(events, { outcome, reason }, now)
  }
})

/** Runs that were under way when their process died, and whose entry the queue no longer has: what replaces them is another run. */
const abandon = Effect.fnUntraced(function* (now: number) {
  const queue = yield* Queue
  const runs = yield* Runs
  for (const status of ["preparing", "analyzing"] as const) {
    for (const run of yield* runs.list({ status, limit: page })) {
      const entry = yield* queue.get(run.entryId)
      if (entry !== undefined && !isTerminal(entry.status)) continue
      const cancelled = entry?.status === "cancelled"
      const reason = cancelled ? entry.reason : "its process ended before the analysis was stored"
      yield* runs.move(run.id, afterEveryToken, cancelled ? "cancelled" : "failed", now, reason)
    }
  }
})

const expire = Effect.fnUntraced(function* (now: number) {
  const queue = yield* Queue
  const receipts = yield* Receipts
  const hours = (yield* ConfigStore).current().document.review.auto_commit.queued_timeout_hours
  if (hours === 0) return
  for (const entry of yield* queue.expire(now - Duration.toMillis(Duration.hours(hours)), "queued_timeout")) {
    yield* Effect.logWarning(
      `Entry ${entry.id} of ${entry.targetKey} waited longer than ${hours} hours and is closed: queued_timeout`
    )
    yield* noteExpired(entry)
    yield* receipts.settle(entry.events, { outcome: "expired", reason: "queued_timeout" }, now)
  }
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
  const publisherOf = yield* ChangePublisher.client
  const queue = yield* Queue
  const outbox = yield* Outbox
  const runs = yield* Runs
  for (const workspace of yield* queue.workspaces) yield* schedulerOf(workspace).Wake(undefined, { discard: true })
  const publishing = yield* runs.list({ status: "publishing", limit: 1000 })
  const targets = new Set([...(yield* outbox.targets), ...publishing.map((run) => run.targetKey)])
  for (const target of targets) yield* publisherOf(target).Publish(undefined, { discard: true })
})

const prune = Effect.fnUntraced(function* (now: number) {
  const { retention } = (yield* ConfigStore).current().document.storage
  const before = (months: number) => DateTime.toEpochMillis(DateTime.subtract(DateTime.makeUnsafe(now), { months }))
  yield* (yield* Receipts).prune({
    maxCount: retention.events.max_count,
    before: before(retention.events.max_age_months)
  })
  yield* (yield* Runs).prune({
    maxCount: retention.recent_runs.max_count,
    before: before(retention.recent_runs.max_age_months)
  })
  yield* (yield* Queue).prune({
    maxCount: retention.queue.max_count,
    before: before(retention.queue.max_age_months)
  })
  yield* (yield* Lessons).prune(now)
  yield* pruneLedger(now)
  yield* pruneEvidence
})

const sweep = Effect.fnUntraced(function* (grace: Duration.Duration) {
  const now = yield* Clock.currentTimeMillis
  yield* reclaim(now)
  yield* requeue(now - Duration.toMillis(grace))
  yield* abandon(now)
  yield* closeLostReservations(now)
  yield* expire(now)
  yield* wakeAll
  yield* measure(now)
})

const surviving = <E extends { readonly message: string }, R>(what: string, effect: Effect.Effect<void, E, R>) =>
  Effect.catch(effect, (error) => Effect.logError(`${what} did not finish: ${error.message}. It is tried again.`))

const shardGroup: ShardGroup = "actors"

/** The node that sweeps reports the queue; one that no longer does reports nothing instead of what was. */
const forgetMeasures = Effect.all(
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
    yield* Effect.addFinalizer(() => forgetMeasures)
    yield* surviving("The sweep at start", sweep(Duration.zero))
    yield* Effect.all(
      [
        Effect.forever(Effect.andThen(Effect.sleep(sweepEvery), surviving("A sweep", sweep(sweepEvery)))),
        Effect.forever(
          Effect.andThen(
            Effect.flatMap(Clock.currentTimeMillis, (now) => surviving("Retention", prune(now))),
            Effect.sleep(pruneEvery)
          )
        )
      ],
      { concurrency: 2, discard: true }
    )
  }).pipe(Effect.scoped),
  { shardGroup }
)
