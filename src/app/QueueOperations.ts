/** Opens the stores of a configuration for `aicr queue`, from another process than the one that serves. Wiring only. */
import { Effect, Layer } from "effect"
import { resolve } from "node:path"
import { natsSettings } from "../../nats/NatsSettings.ts"
import { defaultServiceAddress } from "../cli/AdminClient.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import type { OnStores, ServedAt } from "../cli/QueueCommand.ts"
import { layerStatic } from "../config/FileConfigStore.ts"
import { loadConfig } from "../config/LoadConfig.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { layerLock, locateDatabase, layerRecords } from "./Database.ts"
import * as Logging from "../observability/Logging.ts"
import { Operations } from "../queue/operator/Operations.ts"
import { QueueError } from "../queue/Queue.ts"
import { layerJournal } from "../queue/journal/JournalQueue.ts"
import { makeSqliteJournal, makeSqliteReader } from "../queue/journal/SqliteJournal.ts"
import type { QueueLimits } from "../queue/core/QueueLimits.ts"
import { redisQueue } from "./Queues.ts"
import { acquire } from "../database/DataLock.ts"

const inMemory = (kind: string) =>
  new QueueError({
    reason: "unavailable",
    message:
      `queue.kind ${kind} keeps what waits in the memory of the running service: only that process can show or change it. ` +
      "Use its administration (/api/admin/queue), or queue.kind redis or nats."
  })

/** Opens a connection for this command. */
const natsQueue = (limits: QueueLimits) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const settings = yield* Effect.fromResult(natsSettings(process.env))
      if (settings === undefined) return Layer.effectContext(Effect.fail(inMemory("nats without SVC_NATS_URL")))
      const { NatsConnection } = yield* Effect.promise(() => import("../../nats/NatsConnection.ts"))
      const { layerNats } = yield* Effect.promise(() => import("../queue/journal/NatsQueue.ts"))
      return layerNats(limits).pipe(
        Layer.provide(NatsConnection.layer({ settings, name: "aicr queue", connectWithin: "5 seconds" }))
      )
    }).pipe(Effect.mapError((message) => new QueueError({ reason: "unavailable", message })))
  )

const queueOf = (snapshot: Snapshot, use: "looking" | "changing") => {
  const { kind, limits, sqlite } = snapshot.document.queue
  const bounds = { perWorkspace: limits.per_workspace, total: limits.total }
  switch (kind) {
    case "memory":
      return Layer.effectContext(Effect.fail(inMemory(kind)))
    case "nats":
      return natsQueue(bounds)
    case "sqlite": {
      const path = resolve(snapshot.baseDir, sqlite.path)
      return layerJournal(use === "looking" ? makeSqliteReader(path) : makeSqliteJournal(path), bounds)
    }
    case "redis":
      return redisQueue(snapshot, bounds)
  }
}

/**
 * A SQLite queue has one writer, so a changing command takes the lock of its records too. A Redis queue allows several
 * writers.
 */
const recordsFor = (snapshot: Snapshot, use: "looking" | "changing") => {
  const records = layerRecords(snapshot, "verify")
  return use === "changing" && snapshot.document.queue.kind === "sqlite"
    ? records.pipe(Layer.provide(layerLock(locateDatabase(snapshot))))
    : records
}

export const onStores: OnStores = (config, use, operation) =>
  Effect.gen(function* () {
    // Unset variables are warnings, because only the service needs all of them, such as webhook secrets.
    const snapshot = yield* loadConfig({ file: config }, process.env, { unset: "warnings" })
    const stores = Layer.mergeAll(queueOf(snapshot, use), recordsFor(snapshot, use), layerStatic(snapshot))
    return yield* Effect.provide(operation, Operations.layer.pipe(Layer.provide(stores)))
  }).pipe(Effect.provide(Logging.layerAt("warn")), endWithCode)

const held = "held"

/** Whether another process has opened the queue for itself. */
const isHeld = (queueFile: string) =>
  Effect.scoped(acquire(`${queueFile}.lock`, held)).pipe(
    Effect.as(false),
    // Other errors of the file are reported by the command that opens it.
    Effect.catch(({ message }) => Effect.succeed(message === held))
  )

export const servedAt: ServedAt = (config) =>
  Effect.gen(function* () {
    const snapshot = yield* loadConfig({ file: config }, process.env, { unset: "warnings" })
    const { queue } = snapshot.document
    const isAlone =
      queue.kind === "memory" ||
      (queue.kind === "sqlite" && (yield* isHeld(resolve(snapshot.baseDir, queue.sqlite.path))))
    return isAlone ? defaultServiceAddress(snapshot.document) : undefined
  }).pipe(endWithCode)
