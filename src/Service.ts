/**
 * The service on one machine: the layers of the embedded profile, joined. Wiring only.
 *
 * Layers stop in the reverse order of their start: HTTP first (no new deliveries), then the executor (finishes or hands back
 * its reviews), the other actors, the clients, the stores, and at last the lock of the data folder.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { SingleRunner } from "effect/cluster"
import { hostname } from "node:os"
import { dirname, resolve } from "node:path"
import * as Actors from "../actors/Actors.ts"
import { ChangePublisher } from "../actors/ChangePublisher.ts"
import { WorkspaceScheduler } from "../actors/WorkspaceScheduler.ts"
import { agentLayer } from "./agent/AgentModes.ts"
import * as BuildProblems from "./BuildProblems.ts"
import type { Role } from "./cli/Roles.ts"
import { ConfigStore } from "./config/ConfigStore.ts"
import type { Snapshot } from "./config/Snapshot.ts"
import { targetKey } from "./domain/Change.ts"
import { NodeIdentity } from "./domain/NodeIdentity.ts"
import { Forges } from "./forge/Forges.ts"
import * as LearnOwnAccounts from "./forge/LearnOwnAccounts.ts"
import { OwnAccounts } from "./forge/OwnAccounts.ts"
import { IngressServer } from "./ingress/Server.ts"
import type { IngressOptions } from "./ingress/Server.ts"
import { Wake } from "./ingress/Wake.ts"
import * as ModelServices from "./ModelServices.ts"
import * as OutputsLayer from "./outputs/OutputsLayer.ts"
import { Cancellations } from "./queue/Cancellations.ts"
import * as MemoryQueue from "./queue/MemoryQueue.ts"
import { QueueError } from "./queue/Queue.ts"
import * as RedisQueue from "./queue/RedisQueue.ts"
import * as SqliteQueue from "./queue/SqliteQueue.ts"
import { Tickets } from "./queue/Tickets.ts"
import * as DataLock from "./store/DataLock.ts"
import * as FileObjects from "./store/FileObjects.ts"
import * as Store from "./store/Store.ts"
import { StoreError } from "./store/StoreError.ts"
import * as GitVcs from "./vcs/git/GitVcs.ts"

export interface ServiceOptions {
  readonly roles: ReadonlySet<Role>
  readonly ingress?: IngressOptions
}

const withConfig = <A, E, R>(make: (snapshot: Snapshot) => Layer.Layer<A, E, R>): Layer.Layer<A, E, R | ConfigStore> =>
  Layer.unwrap(Effect.map(ConfigStore, (config) => make(config.current())))

const stores = withConfig(({ baseDir, document: { storage } }) => {
  const { kind, migrate, sqlite } = storage.database
  if (kind !== "sqlite") {
    return Layer.effectDiscard(
      new StoreError({
        reason: "unavailable",
        operation: "open",
        message: `storage.database.kind ${kind} is not available in this build; use sqlite`
      })
    ).pipe(Layer.provideMerge(Store.layerMemory))
  }
  const path = resolve(baseDir, sqlite.path)
  return Store.layerSqlite({ path, migrate }).pipe(Layer.provide(DataLock.layer(dirname(path))))
})

const queues = withConfig(({ baseDir, credential, document: { queue, storage } }) => {
  const limits = { perWorkspace: queue.limits.per_workspace, total: queue.limits.total }
  switch (queue.kind) {
    case "memory":
      return MemoryQueue.layerMemory(limits)
    case "sqlite":
      return SqliteQueue.layerSqlite({ path: resolve(baseDir, queue.sqlite.path), ...limits })
    case "nats":
      return Layer.effectDiscard(
        Effect.logWarning(
          "queue.kind nats: no NATS connection is configured (SVC_NATS_URL), so the queue is kept in memory"
        )
      ).pipe(Layer.provideMerge(MemoryQueue.layerMemory(limits)))
    case "redis": {
      const url = credential(storage.cache.redis, "url")
      if (url === undefined) {
        const message = "queue.kind redis needs a connection: set storage.cache.redis.url_env and the variable it names"
        return Layer.effectContext(Effect.fail(new QueueError({ reason: "unavailable", message })))
      }
      return RedisQueue.layerRedis({ url, prefix: process.env["SVC_REDIS_PREFIX"], ...limits })
    }
  }
})

/** What is larger than a record: evidence of model calls. */
const objects = withConfig(({ baseDir, document: { storage } }) => {
  const { kind, filesystem } = storage.object
  const files = FileObjects.layerFiles({ root: resolve(baseDir, filesystem.root) })
  if (kind === "filesystem") return files
  const message = `storage.object.kind ${kind} is not available in this build; use filesystem`
  return Layer.effectDiscard(new StoreError({ reason: "unavailable", operation: "open", message })).pipe(
    Layer.provideMerge(files)
  )
})

/** Mirrors and worktrees under workspaces.root. */
const vcs = withConfig(({ workspacesRoot }) => GitVcs.layerGit({ root: workspacesRoot }))

const cluster = SingleRunner.layer({
  runnerStorage: "memory",
  shardingConfig: { simulateRemoteSerialization: false, entityTerminationTimeout: "2 seconds" }
}).pipe(Layer.provide(NodeCrypto.layerDigest))

/** What ingress tells the actors. Without actors on this node the stores tell whoever starts next. */
const wakeActors = Layer.effect(
  Wake,
  Effect.gen(function* () {
    const schedulerOf = yield* WorkspaceScheduler.client
    const publisherOf = yield* ChangePublisher.client
    const forges = yield* Forges
    const run = Effect.runForkWith(yield* Effect.context())
    const tell = (message: Effect.Effect<void, { readonly _tag: string }>): void => {
      run(Effect.ignore(message, { log: "Debug" }))
    }
    return Wake.of({
      workspace: (id) => tell(schedulerOf(id).Wake(undefined, { discard: true })),
      closed: (workspace, target) =>
        tell(
          schedulerOf(workspace).Cancel({ targetKey: target, reason: "the pull request is closed" }, { discard: true })
        ),
      command: ({ eventId, change }) => tell(publisherOf(targetKey(change)).Command({ eventId }, { discard: true })),
      installationChanged: (triggers) => forges.forget(triggers)
    })
  })
)
const wakeNobody = Layer.succeed(
  Wake,
  Wake.of({ workspace: () => {}, closed: () => {}, command: () => {}, installationChanged: () => {} })
)

const identity = NodeIdentity.layer(process.env["SVC_NODE_NAME"] ?? hostname())

const workers = ["actors", "executor", "publisher"] as const

/** Why these roles cannot be played by one node alone, or undefined. */
export const rolesProblem = (roles: ReadonlySet<Role>): string | undefined => {
  const played = workers.filter((role) => roles.has(role))
  if (played.length !== 0 && played.length !== workers.length) {
    return `--roles: without NATS (SVC_NATS_URL) ${workers.join(", ")} work in one process: name all three or none`
  }
  return played.length === 0 && !roles.has("ingress") ? "--roles: nothing to do for this node" : undefined
}

/** Needs the configuration and a place for progress. Gives the address of the HTTP server. */
export const layer = ({ roles, ingress = {} }: ServiceOptions) => {
  const records = queues.pipe(
    Layer.provideMerge(stores),
    Layer.provideMerge(Layer.mergeAll(Forges.layer, OwnAccounts.layer, objects))
  )
  const agent = agentLayer.pipe(Layer.provideMerge(ModelServices.gateway), Layer.provide([cluster, identity]))
  const actors = Actors.layerAll.pipe(
    Layer.provideMerge(cluster),
    Layer.provide([OutputsLayer.layer, vcs, agent, Tickets.layerMemory, Cancellations.layerMemory, identity]),
    Layer.provideMerge(LearnOwnAccounts.layer)
  )
  const http = IngressServer.layerWith(ingress)
  const works = workers.every((role) => roles.has(role))
  const serving = works
    ? http.pipe(Layer.provide(wakeActors), Layer.provide(actors))
    : http.pipe(Layer.provide(wakeNobody))
  return Layer.merge(serving.pipe(Layer.provide(records)), BuildProblems.layer)
}
