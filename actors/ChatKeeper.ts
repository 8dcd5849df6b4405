/**
 * Keeps an owner for each chat connection, one keeper in the cluster: wakes the configured ones and those with open requests. A wake-up that
 * is lost is repeated, so that a lost owner is replaced within seconds. Removes old requests.
 */
import { Clock, DateTime, Duration, Effect, Metric } from "effect"
import { Singleton } from "effect/cluster"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import { chatOpenRequests } from "../src/observability/Metrics.ts"
import { ChatHealths } from "../src/store/ChatHealths.ts"
import { ChatRequests } from "../src/store/ChatRequests.ts"
import { countStart } from "./ActorStarts.ts"
import { ChatConnection } from "./ChatConnection.ts"
import type { ShardGroup } from "./Placement.ts"

const wakeInterval = Duration.seconds(2)
const pruneInterval = Duration.minutes(10)
/** Platforms deliver a message again within 8 hours; until then its record makes it a duplicate. */
const minAgeMillis = Duration.toMillis("24 hours")

const wakeAll = Effect.gen(function* () {
  const { connections } = (yield* ConfigStore).current().document.im
  const open = yield* (yield* ChatRequests).openConnections
  const connectionOf = yield* ChatConnection.client
  const total = [...open.values()].reduce((sum, count) => sum + count, 0)
  yield* Metric.update(chatOpenRequests, total)
  const ids = new Set([...Object.keys(connections), ...open.keys()])
  yield* Effect.forEach(ids, (id) => connectionOf(id).Wake(undefined, { discard: true }), { discard: true })
})

/** Removes requests beyond the retention of events. */
const prune = Effect.gen(function* () {
  const { max_age_months: months, max_count: maxCount } = (yield* ConfigStore).current().document.storage.retention
    .events
  const now = yield* Clock.currentTimeMillis
  const before = DateTime.toEpochMillis(DateTime.subtract(DateTime.makeUnsafe(now), { months }))
  yield* (yield* ChatRequests).prune({ before, maxCount, keptSince: now - minAgeMillis }, now)
  yield* (yield* ChatHealths).prune(now - minAgeMillis)
})

const repeat = <E extends { readonly message: string }, R>(
  operation: string,
  every: Duration.Duration,
  effect: Effect.Effect<void, E, R>
) =>
  Effect.forever(
    effect.pipe(
      Effect.catch((error) =>
        Effect.logError("chat requests not kept, retry scheduled", { operation, error: error.message })
      ),
      Effect.andThen(Effect.sleep(every))
    )
  )

const shardGroup: ShardGroup = "chat"

export const layer = Singleton.make(
  "ChatKeeper",
  Effect.all(
    [countStart("ChatKeeper"), repeat("wake", wakeInterval, wakeAll), repeat("retention", pruneInterval, prune)],
    { concurrency: 3, discard: true }
  ),
  { shardGroup }
)
