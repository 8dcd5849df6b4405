/**
 * Keeps the records of automatic commits in step with the queue, one in the cluster. The queue entry holds the state of a batch's review;
 * this copies it to the batch and its members, settles the members' receipts when the review has ended, and queues the next batch of the
 * stream. The next scan completes whatever a crash interrupted; a scan is idempotent.
 */
import { Clock, DateTime, Duration, Effect } from "effect"
import { Singleton } from "effect/cluster"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import { toEventOutcome, statusAfter, statusBy } from "../src/domain/Batch.ts"
import type { Entry } from "../src/domain/Entry.ts"
import { limitWarning } from "../src/observability/LimitedWarnings.ts"
import { toAdmission } from "../src/queue/AutomaticCommits.ts"
import { Queue } from "../src/queue/Queue.ts"
import { Batches } from "../src/store/Batches.ts"
import type { Batch, Placed } from "../src/store/Batches.ts"
import { Receipts } from "../src/store/Receipts.ts"
import { Runs } from "../src/store/Runs.ts"
import { countStart } from "./ActorStarts.ts"
import type { ShardGroup } from "./Placement.ts"
import { WorkspaceScheduler } from "./WorkspaceScheduler.ts"

const scanInterval = Duration.seconds(2)
/** Interval of full scans. Batches that are not due only change when operators or expiry change their entries. */
const fullScanInterval = Duration.minutes(1)
const pruneInterval = Duration.minutes(10)
const page = 500

/** Updates the batch from its entry. Returns whether the batch has ended. */
const syncBatch = Effect.fnUntraced(function* (batch: Batch, entry: Entry, now: number) {
  const batches = yield* Batches
  const status = statusBy(entry, now)
  const outcome = toEventOutcome(status)
  if (outcome === undefined) {
    yield* batches.follow(batch.id, { status, reason: entry.reason }, now)
    return false
  }
  // The run is read from its own record, because the worker may not have written it to the receipts yet.
  const runs = yield* (yield* Runs).list({ targetKey: batch.stream, limit: 50 })
  const runId = runs.find((run) => run.entryId === entry.id)?.id
  const members = yield* batches.members(batch.id)
  yield* (yield* Receipts).settle(
    members.map(({ eventId }) => eventId),
    { outcome, reason: entry.reason, runId },
    now
  )
  return yield* batches.follow(batch.id, { status, reason: entry.reason, runId }, now)
})

/** Queues the first batch of its stream when it was never queued or the queue has lost it. */
const enqueueBatch = Effect.fnUntraced(function* (batch: Batch, now: number) {
  const batches = yield* Batches
  const receipts = yield* Receipts
  const events = yield* Effect.forEach(yield* batches.members(batch.id), ({ eventId }) => receipts.get(eventId))
  const known = events.filter((event) => event !== undefined)
  const waiting = known.filter((event) => event.outcome === undefined)
  if (waiting.length === 0) {
    const last = known.at(-1)
    const status = last?.outcome === undefined ? "cancelled" : statusAfter[last.outcome]
    const reason = last === undefined ? "its receipts are no longer on record" : last.outcomeReason
    return yield* batches.follow(batch.id, { status, reason, runId: last?.runId }, now)
  }
  const queue = yield* Queue
  const admitted = yield* queue.admit(waiting.map(({ id }) => toAdmission(batch, id)))
  const entryId = admitted[0]?.entryId
  if (entryId !== undefined) yield* batches.entered([{ batchId: batch.id, entryId }])
  yield* (yield* WorkspaceScheduler.client)(batch.workspace).Wake(undefined, { discard: true })
  return false
})

const syncPosition = Effect.fnUntraced(function* ({ batch, first }: Placed, now: number) {
  const entry = batch.entryId === undefined ? undefined : yield* (yield* Queue).get(batch.entryId)
  if (entry !== undefined) return yield* syncBatch(batch, entry, now)
  if (first) return yield* enqueueBatch(batch, now)
  if (batch.dueAt <= now) {
    const reason = "waits for the previous batch"
    yield* (yield* Batches).follow(batch.id, { status: "ready", reason }, now)
  }
  return false
})

/** Scans until no batch ends any more: each batch that ends makes the next of its stream eligible. */
export const scan = Effect.fnUntraced(function* (all: boolean) {
  const batches = yield* Batches
  let ended = true
  while (ended) {
    ended = false
    const now = yield* Clock.currentTimeMillis
    let after: string | undefined
    while (true) {
      const places = yield* batches.unfinished({ dueBy: all ? undefined : now, after, limit: page })
      for (const place of places) ended = (yield* syncPosition(place, now)) || ended
      after = places.at(-1)?.batch.id
      if (places.length < page) break
    }
  }
})

/** Removes ended batches beyond the retention limits. */
export const prune = Effect.gen(function* () {
  const { max_age_months: months, max_count: maxCount } = (yield* ConfigStore).current().document.storage.retention
    .queue
  const now = yield* Clock.currentTimeMillis
  const before = DateTime.toEpochMillis(DateTime.subtract(DateTime.makeUnsafe(now), { months }))
  yield* (yield* Batches).prune({ maxCount, before })
})

const logAndContinue = <E extends { readonly message: string }, R>(what: string, effect: Effect.Effect<void, E, R>) =>
  Effect.catch(effect, (error) =>
    limitWarning(`automatic commits ${what}`, (suppressed) =>
      Effect.logError("scan of automatic commits failed, retry scheduled", {
        operation: what,
        error: error.message,
        suppressed
      })
    )
  )

const repeat = <R>(effect: Effect.Effect<void, never, R>, every: Duration.Duration) =>
  Effect.forever(
    Effect.flatMap(Effect.timed(effect), ([took]) =>
      // Scans become rarer when many batches wait.
      Effect.sleep(Duration.max(every, Duration.times(took, 10)))
    )
  )

const shardGroup: ShardGroup = "actors"

export const layer = Singleton.make(
  "BatchKeeper",
  Effect.all(
    [
      countStart("BatchKeeper"),
      repeat(logAndContinue("scan of due batches", scan(false)), scanInterval),
      repeat(logAndContinue("scan of all batches", scan(true)), fullScanInterval),
      repeat(logAndContinue("retention of batches", prune), pruneInterval)
    ],
    { concurrency: 4, discard: true }
  ),
  { shardGroup }
)
