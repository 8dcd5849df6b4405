/**
 * Keeps the records of automatic commits in step with the queue (`FollowBatch`), one in the cluster. Executors do the same for the stream of
 * a review that has ended, so that its next batch starts without a scan. The next scan completes whatever a crash interrupted; a scan is
 * idempotent.
 */
import { Clock, DateTime, Duration, Effect } from "effect"
import { Singleton } from "effect/cluster"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { logFailure } from "../../src/observability/LimitedWarnings.ts"
import { Batches } from "../../src/store/Batches.ts"
import { countStart } from "../ActorStarts.ts"
import { followBatch } from "./FollowBatch.ts"
import type { ShardGroup } from "../Placement.ts"

const scanInterval = Duration.seconds(2)
/** Interval of the search for a first batch. Executors follow the batches of their reviews, and the queue has the entries. */
const restInterval = Duration.seconds(10)
/** Interval of full scans. Batches that are not due only change when operators or expiry change their entries. */
const fullScanInterval = Duration.minutes(1)
const pruneInterval = Duration.minutes(10)
const page = 500

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
      for (const place of places) ended = (yield* followBatch(place, now)) || ended
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

const logAndContinue = <E extends { readonly message: string }, R>(
  what: string,
  every: Duration.Duration,
  effect: Effect.Effect<Duration.Duration | void, E, R>
) =>
  effect.pipe(
    Effect.catch(
      logFailure(
        "scan of automatic commits failed, retry scheduled",
        { operation: what },
        { about: what, level: "Error" }
      )
    ),
    Effect.map((next) => next ?? every)
  )

/** Scans the due batches, if any batch is unfinished. Returns the time until the next scan. */
export const scanDue = Effect.gen(function* () {
  const unfinished = yield* (yield* Batches).unfinished({ dueBy: undefined, after: undefined, limit: 1 })
  if (unfinished.length === 0) return restInterval
  yield* scan(false)
  return scanInterval
})

/** Repeats an effect that returns the time until the next time. */
const repeat = <R>(effect: Effect.Effect<Duration.Duration, never, R>) =>
  Effect.forever(
    Effect.flatMap(Effect.timed(effect), ([took, every]) =>
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
      repeat(logAndContinue("scan of due batches", scanInterval, scanDue)),
      repeat(logAndContinue("scan of all batches", fullScanInterval, scan(true))),
      repeat(logAndContinue("retention of batches", pruneInterval, prune))
    ],
    { concurrency: 4, discard: true }
  ),
  { shardGroup }
)
