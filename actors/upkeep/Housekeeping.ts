/**
 * Sweeps, one in the cluster: finds after a crash everything that waits, in whatever state. A sweep has steps, each a file of this folder, at
 * start and then periodically. It also wakes schedulers with work and publishers with open rows or open runs. Leases of a process that no longer
 * exists are released within seconds, between sweeps.
 */
import { Clock, Duration, Effect, Metric, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { LiveNodes } from "../../src/domain/LiveNodes.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import { countStart } from "../ActorStarts.ts"
import { closeLostReservations } from "../limits/BudgetLedger.ts"
import type { ShardGroup } from "../Placement.ts"
import { publishers } from "../publishing/ChangePublisher.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"
import { abandon, endStatuses } from "./AbandonedRuns.ts"
import { expire } from "./ExpireEntries.ts"
import { noteLate } from "./LateEntries.ts"
import { reclaim } from "./ReclaimLeases.ts"
import { requeue } from "./RequeueReceipts.ts"
import { prune } from "./Retention.ts"
import { each, step } from "./SweepStep.ts"

const sweepEvery = Duration.seconds(15)
/** Pause before what further processes held is released, and before a failed attempt is repeated. */
const gonePause = Duration.millis(500)
const pruneEvery = Duration.minutes(10)
/** Interval between searches for entries that are late, which read all waiting entries of a workspace if one of them may be. */
const lateEvery = Duration.minutes(1)
/** Longer than the interval between two sweeps. The first sweep of a process covers more. */
const endedWithin = Duration.minutes(2)

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
  const now = yield* Clock.currentTimeMillis
  const reclaimed = yield* step("reclaim", reclaim(now))
  const woken = yield* step("wake", wakeAll)
  const closed = yield* step("reservations", closeLostReservations(now))
  if (reclaimed && woken && closed) for (const owner of gone) released.add(owner)
})

const findLate = (lookBack: Duration.Duration) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => step("late", noteLate(now, Duration.toMillis(lookBack))))

/** Sweeps, which releases what the processes that have ended by then held. */
const sweepReleasing = Effect.fnUntraced(function* (released: Set<string>) {
  const gone = yield* (yield* LiveNodes).gone
  yield* sweep(sweepEvery, endedWithin)
  for (const owner of gone) released.add(owner)
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
    yield* findLate(Duration.days(1))
    const live = yield* LiveNodes
    const released = new Set<string>()
    yield* Effect.all(
      [
        Effect.suspend(() => live.goneBeyond(released.size)).pipe(
          Effect.andThen(releaseGone(released)),
          Effect.repeat(Schedule.spaced(gonePause))
        ),
        Effect.schedule(sweepReleasing(released), Schedule.spaced(sweepEvery)),
        Effect.schedule(findLate(endedWithin), Schedule.spaced(lateEvery)),
        Effect.repeat(Effect.flatMap(Clock.currentTimeMillis, prune), Schedule.spaced(pruneEvery))
      ],
      { concurrency: "unbounded", discard: true }
    )
  }).pipe(Effect.scoped),
  { shardGroup }
)
