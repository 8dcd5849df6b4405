/**
 * 100 000 waiting entries in 10 000 workspaces, and the same number of entries per workspace in 100: memory per entry in the queue,
 * and from the wake of a workspace's scheduler to its ticket. The real scheduler on the real actor engine, each woken for the
 * first time, so that starting the actor is part of it.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import { SingleRunner } from "effect/cluster"
import * as Scheduler from "../../../actors/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { Cancellations } from "../../../src/queue/Cancellations.ts"
import { layerMemory } from "../../../src/queue/MemoryQueue.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Tickets } from "../../../src/queue/Tickets.ts"
import * as Store from "../../../src/store/Store.ts"
import { testSnapshotWith } from "../../harness/ActorParts.ts"

const perWorkspace = 10
const samples = 100

const cluster = SingleRunner.layer({
  runnerStorage: "memory",
  shardingConfig: { simulateRemoteSerialization: false }
}).pipe(Layer.provide(NodeCrypto.layerDigest))
const world = Scheduler.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      layerMemory({ perWorkspace: 1000, total: 1_000_000 }),
      Tickets.layerMemory,
      Cancellations.layerMemory,
      Layer.succeed(ConfigStore, testSnapshotWith("w", "t")),
      cluster
    )
  ),
  Layer.provideMerge(Store.layerMemory)
)

const heap = () => {
  globalThis.gc?.()
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

const admission = (workspace: number, number: number) => {
  const name = `workspace-${workspace}`
  const web = `https://git.example/acme/${name}`
  // As from a request's body: nothing of it is shared with another entry.
  const change = JSON.parse(
    JSON.stringify({
      provider: "gitea",
      trigger: "main",
      workspace: name,
      repo: { fullName: `acme/${name}`, cloneUrl: `${web}.git`, webUrl: web },
      target: { kind: "pull_request", number },
      head: number.toString(16).padStart(40, "0"),
      base: "b".repeat(40),
      headRef: `feature-${number}`,
      baseRef: "main",
      title: `Change number ${number}`,
      url: `${web}/pulls/${number}`,
      author: { username: "ada" }
    })
  )
  return { eventId: newId(), change, configHash: "c".repeat(64), priority: 10, admittedAt: number, dueAt: number }
}

const p = (times: ReadonlyArray<number>, share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)] ?? Number.NaN

const measure = (workspaces: number) =>
  Effect.gen(function* () {
    const queue = yield* Queue
    const tickets = yield* Tickets
    const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
    // The engine places its shards with the first message.
    yield* schedulerOf("warm-up").Wake()
    const before = heap()
    for (let workspace = 0; workspace < workspaces; workspace++) {
      yield* queue.admit(Array.from({ length: perWorkspace }, (_, number) => admission(workspace, number + 1)))
    }
    const bytes = (heap() - before) / (workspaces * perWorkspace)
    const times: Array<number> = []
    const step = Math.max(1, Math.floor(workspaces / (10 * samples)))
    for (let workspace = 0; workspace < workspaces; workspace += step) {
      const began = performance.now()
      yield* schedulerOf(`workspace-${workspace}`).Wake(undefined, { discard: true })
      yield* tickets.take
      times.push(performance.now() - began)
    }
    return { bytes, p50: p(times, 0.5), p99: p(times, 0.99) }
  }).pipe(Effect.provide(Layer.fresh(world)))

await Effect.runPromise(measure(1000))
const many = await Effect.runPromise(measure(10_000))
const few = await Effect.runPromise(measure(100))
process.send?.({ many, few })
process.disconnect()
