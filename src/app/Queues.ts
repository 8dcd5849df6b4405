/** The configured queue. Queues over a server are loaded with their client only where they are configured. Wiring only. */
import { Effect, Layer, Option } from "effect"
import { resolve } from "node:path"
import type { Snapshot } from "../config/Snapshot.ts"
import type { Reason } from "../domain/Reason.ts"
import { fromConfig } from "./FromConfig.ts"
import { AwaitedServers } from "../ingress/AwaitedServers.ts"
import * as MemoryQueue from "../queue/journal/MemoryQueue.ts"
import { QueueError } from "../queue/Queue.ts"
import { layerJournal } from "../queue/journal/JournalQueue.ts"
import { makeSqliteJournal } from "../queue/journal/SqliteJournal.ts"
import type { QueueLimits } from "../queue/core/QueueLimits.ts"

/** The queue in the Redis that storage.cache.redis names. A starting service waits for it, a command does not. */
export const redisQueue = ({ credential, document: { storage } }: Snapshot, limits: QueueLimits) => {
  const url = credential(storage.cache.redis, "url")
  if (url === undefined) {
    const why: Reason = { _tag: "RedisUnconfigured", field: "queue.kind" }
    return Layer.effectContext(Effect.fail(new QueueError({ reason: "unavailable", why })))
  }
  return Layer.unwrap(
    Effect.gen(function* () {
      const { makeRedisJournal } = yield* Effect.promise(() => import("../queue/journal/RedisJournal.ts"))
      const awaited = Option.getOrUndefined(yield* Effect.serviceOption(AwaitedServers))
      return layerJournal(makeRedisJournal(url, process.env["SVC_REDIS_PREFIX"], awaited?.of("redis")), limits)
    })
  )
}

/** The queue over the connection of this node. */
const natsQueue = (limits: QueueLimits) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { NatsConnection } = yield* Effect.promise(() => import("../../nats/NatsConnection.ts"))
      const connection = yield* Effect.serviceOption(NatsConnection)
      if (Option.isNone(connection)) return withoutNats.pipe(Layer.provideMerge(MemoryQueue.layerMemory(limits)))
      const { makeNatsJournal } = yield* Effect.promise(() => import("../queue/journal/NatsJournal.ts"))
      return layerJournal(makeNatsJournal(), limits).pipe(
        Layer.provide(Layer.succeed(NatsConnection, connection.value))
      )
    })
  )

const withoutNats = Layer.effectDiscard(
  Effect.logWarning("queue.kind nats: no NATS connection is configured (SVC_NATS_URL), so the queue is kept in memory")
)

export const queues = fromConfig((snapshot) => {
  const { queue } = snapshot.document
  const limits = { perWorkspace: queue.limits.per_workspace, total: queue.limits.total }
  switch (queue.kind) {
    case "memory":
      return MemoryQueue.layerMemory(limits)
    case "sqlite":
      return layerJournal(makeSqliteJournal(resolve(snapshot.baseDir, queue.sqlite.path)), limits)
    case "nats":
      return natsQueue(limits)
    case "redis":
      return redisQueue(snapshot, limits)
  }
})
