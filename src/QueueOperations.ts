/** Opens the stores of a configuration for `aicr queue`, from another process than the one that serves. Wiring only. */
import { Effect, Layer } from "effect"
import { dirname, resolve } from "node:path"
import { ExitWith } from "./cli/Exit.ts"
import type { OnStores } from "./cli/QueueCommand.ts"
import { layerOf } from "./config/FileConfigStore.ts"
import { ConfigInvalid, readConfigFile } from "./config/LoadConfig.ts"
import type { Snapshot } from "./config/Snapshot.ts"
import * as Logging from "./observability/Logging.ts"
import { Operations } from "./queue/Operations.ts"
import { QueueError } from "./queue/Queue.ts"
import * as RedisQueue from "./queue/RedisQueue.ts"
import * as SqliteQueue from "./queue/SqliteQueue.ts"
import { layerReading } from "./queue/SqliteQueueReader.ts"
import * as DataLock from "./store/DataLock.ts"
import * as Store from "./store/Store.ts"
import { StoreError } from "./store/StoreError.ts"

const inMemory = (kind: string) =>
  new QueueError({
    reason: "unavailable",
    message:
      `queue.kind ${kind} keeps what waits in the memory of the running service: only that process can show or change it. ` +
      "With queue.kind sqlite or redis this command can."
  })

const queueOf = ({ baseDir, credential, document }: Snapshot, use: "looking" | "changing") => {
  const { kind, limits, sqlite } = document.queue
  const bounds = { perWorkspace: limits.per_workspace, total: limits.total }
  switch (kind) {
    case "memory":
    case "nats":
      return Layer.effectContext(Effect.fail(inMemory(kind)))
    case "sqlite": {
      const path = resolve(baseDir, sqlite.path)
      return use === "looking" ? layerReading(path) : SqliteQueue.layerSqlite({ path, ...bounds })
    }
    case "redis": {
      const url = credential(document.storage.cache.redis, "url")
      if (url === undefined) {
        const message = "queue.kind redis needs a connection: set storage.cache.redis.url_env and the variable it names"
        return Layer.effectContext(Effect.fail(new QueueError({ reason: "unavailable", message })))
      }
      return RedisQueue.layerRedis({ url, prefix: process.env["SVC_REDIS_PREFIX"], ...bounds })
    }
  }
}

/** A SQLite queue has one writer, so its records are taken for oneself as well; beside Redis others may be at work. */
const recordsOf = ({ baseDir, document: { queue, storage } }: Snapshot, use: "looking" | "changing") => {
  const { kind, sqlite } = storage.database
  if (kind !== "sqlite") {
    return Layer.effectContext(
      Effect.fail(
        new StoreError({
          reason: "unavailable",
          operation: "open",
          message: `storage.database.kind ${kind} is not available in this build; use sqlite`
        })
      )
    )
  }
  const path = resolve(baseDir, sqlite.path)
  const records = Store.layerSqlite({ path, migrate: "verify" })
  return use === "changing" && queue.kind === "sqlite"
    ? records.pipe(Layer.provide(DataLock.layer(dirname(path))))
    : records
}

export const onStores: OnStores = (config, use, operation) =>
  Effect.gen(function* () {
    // What the service needs to start (webhook secrets) is not needed here.
    const { snapshot, issues } = yield* readConfigFile(config, process.env, { unset: "warnings" })
    if (snapshot === undefined) return yield* ConfigInvalid.of(issues)
    const stores = Layer.mergeAll(queueOf(snapshot, use), recordsOf(snapshot, use), layerOf(snapshot))
    return yield* Effect.provide(operation, Operations.layer.pipe(Layer.provide(stores)))
  }).pipe(
    Effect.provide(Logging.layerWith({ level: "warn", pretty: process.stderr.isTTY })),
    Effect.catchTags({
      ConfigInvalid: ({ message }) => new ExitWith({ code: 2, message }),
      QueueError: ({ message }) => new ExitWith({ code: 3, message }),
      StoreError: ({ message }) => new ExitWith({ code: 3, message })
    })
  )
