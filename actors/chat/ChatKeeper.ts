/**
 * Keeps an owner for each chat connection, one keeper in the cluster: wakes the configured ones and those with open requests. A wake-up that
 * is lost is repeated, so that a lost owner is replaced within seconds. Removes old requests.
 */
import { Clock, DateTime, Duration, Effect, Metric, Option, Schedule, Stream } from "effect"
import { Singleton } from "effect/cluster"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { chatOpenRequests } from "../../src/observability/Metrics.ts"
import { ChatHealths } from "../../src/store/ChatHealths.ts"
import { ChatRequests } from "../../src/store/ChatRequests.ts"
import { countStart } from "../ActorStarts.ts"
import { ChatConnection } from "./ChatConnection.ts"
import type { ShardGroup } from "../Placement.ts"

const wakeInterval = Duration.seconds(2)
/** Interval without connections: requests of a removed one may still be stored by a node with an older configuration. */
const idleInterval = Duration.minutes(10)
const pruneInterval = Duration.minutes(10)
/** Platforms deliver a message again within 8 hours; until then its record makes it a duplicate. */
const minAgeMillis = Duration.toMillis("24 hours")

type Wake<E> = (connection: string) => Effect.Effect<void, E>

const listConnections = ({ document }: Snapshot): ReadonlyArray<string> => Object.keys(document.im.connections)

/** Wakes all owners. Returns whether there is any. */
const wakeAll = Effect.fnUntraced(function* <E>(wake: Wake<E>) {
  const open = yield* (yield* ChatRequests).openConnections
  const total = [...open.values()].reduce((sum, count) => sum + count, 0)
  yield* Metric.update(chatOpenRequests, total)
  const ids = new Set([...listConnections((yield* ConfigStore).current()), ...open.keys()])
  yield* Effect.forEach(ids, wake, { discard: true })
  return ids.size > 0
})

/** Waits until a configuration has a connection. */
const awaitConnections = Effect.gen(function* () {
  const config = yield* ConfigStore
  const snapshots = Stream.merge(config.changes, Stream.sync(config.current))
  const found = yield* Stream.runHead(Stream.filter(snapshots, (snapshot) => listConnections(snapshot).length > 0))
  return yield* Option.isSome(found) ? Effect.void : Effect.never
})

const logAndContinue =
  (operation: string) =>
  <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.catch(effect, (error) =>
      Effect.as(
        Effect.logError("chat requests not kept, retry scheduled", { operation, error: error.message }),
        undefined
      )
    )

/** Wakes owners again and again. Without connections the store is used every ten minutes. */
export const keepAwake = <E extends { readonly message: string }>(wake: Wake<E>) =>
  wakeAll(wake).pipe(
    logAndContinue("wake"),
    Effect.flatMap((hasOwners) =>
      hasOwners === false ? Effect.raceFirst(awaitConnections, Effect.sleep(idleInterval)) : Effect.sleep(wakeInterval)
    ),
    Effect.forever
  )

/** Removes requests beyond the retention of events. */
const prune = Effect.gen(function* () {
  const { max_age_months: months, max_count: maxCount } = (yield* ConfigStore).current().document.storage.retention
    .events
  const now = yield* Clock.currentTimeMillis
  const before = DateTime.toEpochMillis(DateTime.subtract(DateTime.makeUnsafe(now), { months }))
  yield* (yield* ChatRequests).prune({ before, maxCount, keptSince: now - minAgeMillis }, now)
  yield* (yield* ChatHealths).prune(now - minAgeMillis)
})

const keepPruned = Effect.repeat(logAndContinue("retention")(prune), Schedule.spaced(pruneInterval))

const wakeOwners = Effect.flatMap(ChatConnection.client, (connectionOf) =>
  keepAwake((id) => connectionOf(id).Wake(undefined, { discard: true }))
)

const shardGroup: ShardGroup = "chat"

export const layer = Singleton.make(
  "ChatKeeper",
  Effect.all([countStart("ChatKeeper"), wakeOwners, keepPruned], { concurrency: 3, discard: true }),
  { shardGroup }
)
