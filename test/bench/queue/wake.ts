/**
 * 100 000 waiting entries in 10 000 workspaces, and the same number of entries per workspace in 100: memory per entry in the queue,
 * what a decision costs, and how long it takes from the wake of a workspace's scheduler to its ticket. The real scheduler on the
 * real actor engine, each woken for the first time, so that starting the actor is part of it.
 */
import { Effect, Layer } from "effect"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { Cancellations } from "../../../src/queue/dispatch/Cancellations.ts"
import { layerMemory } from "../../../src/queue/journal/MemoryQueue.ts"
import { localEngine } from "../../../src/app/LocalEngine.ts"
import { plan } from "../../../src/queue/Plan.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Tickets } from "../../../src/queue/dispatch/Tickets.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { testSnapshotWith } from "../../harness/ActorParts.ts"

const perWorkspace = 10
const rounds = 5
const wakesARound = 400
const decisionsARound = 4000

const world = Scheduler.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      layerMemory({ perWorkspace: 1000, total: 1_000_000 }),
      Tickets.layerMemory,
      Cancellations.layerMemory,
      Layer.succeed(ConfigStore, testSnapshotWith("w", "t")),
      localEngine
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
  // Like a request's body: nothing of it is shared with another entry.
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

const median = (values: ReadonlyArray<number>) => p(values, 0.5)

const fill = Effect.fnUntraced(function* (workspaces: number) {
  const queue = yield* Queue
  // The engine places its shards with the first message.
  yield* (yield* Scheduler.WorkspaceScheduler.client)("warm-up").Wake()
  const before = heap()
  for (let workspace = 0; workspace < workspaces; workspace++) {
    yield* queue.admit(Array.from({ length: perWorkspace }, (_, number) => admission(workspace, number + 1)))
  }
  return (heap() - before) / (workspaces * perWorkspace)
})

/** Microseconds of a decision in a workspace from `first` on. In each world the same number, so that only the others differ. */
const decide = Effect.fnUntraced(function* (first: number, workspaces: number) {
  const queue = yield* Queue
  const began = performance.now()
  for (let count = 0; count < decisionsARound; count++) {
    const name = `workspace-${first + ((count * 7919) % (workspaces - first))}`
    const { promote } = plan(
      yield* queue.loadSnapshot(name, 1000, 4),
      { computing: 4, awaiting: 0, replies: 0 },
      new Map()
    )
    if (promote.length !== 4) throw new Error(`released ${promote.length}`)
  }
  return ((performance.now() - began) * 1000) / decisionsARound
})

/** Milliseconds from wake to ticket, of workspaces that were never woken before. */
const wake = Effect.fnUntraced(function* (round: number) {
  const tickets = yield* Tickets
  const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
  const times: Array<number> = []
  for (let count = 0; count < wakesARound; count++) {
    const began = performance.now()
    yield* schedulerOf(`workspace-${count * (rounds + 1) + round}`).Wake(undefined, { discard: true })
    yield* tickets.take("review")
    times.push(performance.now() - began)
  }
  return times
})

const measure = Effect.gen(function* () {
  const few = yield* Layer.build(Layer.fresh(world))
  const many = yield* Layer.build(Layer.fresh(world))
  yield* Effect.provideContext(fill(100), few)
  const bytes = yield* Effect.provideContext(fill(10_000), many)
  const decisions: Array<{ readonly few: number; readonly many: number }> = []
  const wakes: Array<ReadonlyArray<number>> = []
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    const both = [
      Effect.provideContext(decide(0, 100), few),
      Effect.provideContext(decide(9900, 10_000), many)
    ] as const
    const [inFew, inMany] = yield* round % 2 === 0
      ? Effect.all(both)
      : Effect.map(Effect.all([both[1], both[0]]), ([second, first]) => [first, second] as const)
    const woken = yield* Effect.provideContext(wake(round), many)
    if (round === 0) continue
    decisions.push({ few: inFew, many: inMany })
    wakes.push(woken)
  }
  return {
    bytes,
    p50: median(wakes.map((times) => p(times, 0.5))),
    p99: median(wakes.map((times) => p(times, 0.99))),
    decision: median(decisions.map((one) => one.many)),
    growth: median(decisions.map((one) => one.many / one.few))
  }
})

process.send?.(await Effect.runPromise(Effect.scoped(measure)))
process.disconnect()
