/**
 * The administration for commands: of the service at an address, of the service of this configuration on this machine, or of this process
 * over the stores. The last one exists because operators read and repair the queue and the records while no service runs. Wiring only.
 */
import { Effect, Layer, Option, Result } from "effect"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { natsSettings } from "../../nats/NatsSettings.ts"
import { AdminApi } from "../admin/AdminApi.ts"
import { adminPath } from "../admin/api/AdminHttpApi.ts"
import { listSockets } from "./AdminSocket.ts"
import * as Handle from "../admin/handlers/Handle.ts"
import { DeliveryReplay } from "../admin/DeliveryReplay.ts"
import { Nodes } from "../admin/nodes/Nodes.ts"
import { ProviderStates } from "../llm/ProviderStates.ts"
import type { AdminClient, AdminTarget, OpenAdmin } from "../cli/AdminCall.ts"
import { findServed, makeAdminClient, sendTo } from "../cli/AdminHttpClient.ts"
import { defaultServiceAddress, serviceAt, withService } from "../cli/AdminSession.ts"
import type { ExitWith } from "../cli/Exit.ts"
import { endWithCode } from "../cli/ExitCodes.ts"
import { layerStatic } from "../config/snapshots/FileConfigStore.ts"
import { loadFileSections, loadForStores } from "./CommandConfig.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { layerLock, locateDatabase, layerRecords } from "./Database.ts"
import { verbatimReason } from "../domain/Reason.ts"
import { Forges } from "../forge/Forges.ts"
import { Progress } from "../observability/Progress.ts"
import * as Logging from "../observability/logs/Logging.ts"
import { Operations } from "../queue/operator/Operations.ts"
import { QueueError } from "../queue/Queue.ts"
import { layerJournal } from "../queue/journal/JournalQueue.ts"
import { layerMemory } from "../queue/journal/MemoryQueue.ts"
import { makeSqliteJournal, makeSqliteReader } from "../queue/journal/SqliteJournal.ts"
import type { QueueLimits } from "../queue/core/QueueLimits.ts"
import { redisQueue } from "./Queues.ts"
import { objects } from "./Stores.ts"
import { acquire } from "../database/sqlite/DataLock.ts"

const inMemory = (kind: string) =>
  new QueueError({
    reason: "unavailable",
    why: { _tag: "QueueInMemory", kind }
  })

/** Opens a connection for this command. */
const natsQueue = (limits: QueueLimits) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const settings = yield* Effect.fromResult(natsSettings(process.env))
      if (settings === undefined) return Layer.effectContext(Effect.fail(inMemory("nats without SVC_NATS_URL")))
      const { NatsConnection } = yield* Effect.promise(() => import("../../nats/NatsConnection.ts"))
      const { makeNatsJournal } = yield* Effect.promise(() => import("../queue/journal/NatsJournal.ts"))
      return layerJournal(makeNatsJournal(), limits).pipe(
        Layer.provide(NatsConnection.layer({ settings, name: "aicr queue", connectWithin: "5 seconds" }))
      )
    }).pipe(Effect.mapError((text) => new QueueError({ reason: "unavailable", why: verbatimReason(text) })))
  )

const queueOf = (snapshot: Snapshot, use: AdminTarget["use"]) => {
  const { kind, limits, sqlite } = snapshot.document.queue
  const bounds = { perWorkspace: limits.per_workspace, total: limits.total }
  switch (kind) {
    case "memory":
      // Without the service nothing waits, and its records can be read.
      return use === "records" ? layerMemory(bounds) : Layer.effectContext(Effect.fail(inMemory(kind)))
    case "nats":
      return natsQueue(bounds)
    case "sqlite": {
      const path = resolve(snapshot.baseDir, sqlite.path)
      if (use === "records" && !existsSync(path)) return layerMemory(bounds)
      return layerJournal(use === "changing" ? makeSqliteJournal(path) : makeSqliteReader(path), bounds)
    }
    case "redis":
      return redisQueue(snapshot, bounds)
  }
}

/**
 * A SQLite queue has one writer, so a changing command takes the lock of its records too. A Redis queue allows several
 * writers.
 */
const recordsFor = (snapshot: Snapshot, use: AdminTarget["use"]) => {
  const records = layerRecords(snapshot, "verify")
  return use === "changing" && snapshot.document.queue.kind === "sqlite"
    ? records.pipe(Layer.provide(layerLock(locateDatabase(snapshot))))
    : records
}

/** Calls the administration of this process over the stores of a configuration. */
const withStores = <A>(
  snapshot: Snapshot,
  use: AdminTarget["use"],
  command: (client: AdminClient) => Effect.Effect<A, ExitWith>
) => {
  const stores = Layer.mergeAll(
    queueOf(snapshot, use),
    recordsFor(snapshot, use),
    objects.pipe(Layer.provideMerge(layerStatic(snapshot))),
    Progress.layer
  )
  const administration = Handle.layer.pipe(
    Layer.provide([
      Operations.layer,
      Forges.layer,
      DeliveryReplay.layerNone,
      ProviderStates.layerNone,
      Layer.succeed(Nodes, Nodes.of({ list: Effect.succeed([]) }))
    ]),
    Layer.provide(stores)
  )
  return Effect.gen(function* () {
    const api = yield* AdminApi
    const client = yield* makeAdminClient(({ body = "", method, path }) => {
      const url = new URL(path, "http://local")
      const request = {
        method,
        path: url.pathname.slice(adminPath.length),
        query: url.searchParams,
        headers: { "content-type": "application/json" },
        address: "local",
        client: "local",
        body: new TextEncoder().encode(body)
      }
      return Effect.map(api.handleLocal(request), ({ body: text, contentType, headers, status }) => ({
        status,
        headers: { ...headers, "content-type": contentType },
        text
      }))
    })
    return yield* command(client)
  }).pipe(Effect.provide(administration))
}

/** Whether another process has opened the queue for itself. */
const isHeld = (queueFile: string) =>
  Effect.scoped(acquire(`${queueFile}.lock`, { _tag: "QueueTaken", path: queueFile })).pipe(
    Effect.as(false),
    // Other errors of the file are reported by the command that opens it.
    Effect.catch(({ why }) => Effect.succeed(why._tag === "QueueTaken"))
  )

/** Whether only the running service can do this. It has no socket, so it is reached at its port. */
const needsService = (snapshot: Snapshot, use: AdminTarget["use"]) => {
  const { queue } = snapshot.document
  if (use !== "changing") return Effect.succeed(false)
  if (queue.kind === "memory") return Effect.succeed(true)
  return queue.kind === "sqlite" ? isHeld(resolve(snapshot.baseDir, queue.sqlite.path)) : Effect.succeed(false)
}

export const openAdmin: OpenAdmin = ({ config, url, use }, command) =>
  Effect.gen(function* () {
    if (Option.isSome(url)) return yield* withService(yield* serviceAt(url.value), command)
    // Unset variables are warnings, because only the service needs all of them, such as webhook secrets.
    const loaded = yield* Effect.result(loadForStores(config))
    // A running service keeps the previous configuration while its file is invalid.
    const located = Result.isSuccess(loaded) ? loaded.success : yield* loadFileSections(config)
    const socket = located === undefined ? undefined : yield* findServed(listSockets(located))
    if (socket !== undefined) return yield* command(yield* makeAdminClient(sendTo({ socketPath: socket })))
    const snapshot = yield* Effect.fromResult(loaded)
    if (yield* needsService(snapshot, use)) return yield* withService(defaultServiceAddress(snapshot.document), command)
    return yield* withStores(snapshot, use, command)
  }).pipe(Effect.provide(Logging.layerAt("warn")), endWithCode)
