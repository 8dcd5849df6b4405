/** The slots of a node: a review that is cancelled ends at once with all it started, and a drained node takes nothing. */
import { assert, layer } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"
import * as Publisher from "../../actors/ChangePublisher.ts"
import * as Executor from "../../actors/ReviewExecutor.ts"
import * as Scheduler from "../../actors/WorkspaceScheduler.ts"
import { Agent } from "../../src/agent/Agent.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { targetKey } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { NodeIdentity } from "../../src/domain/NodeIdentity.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { Catalog } from "../../src/llm/catalog/Catalog.ts"
import { Gateway } from "../../src/llm/Gateway.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { QueueControl } from "../../src/queue/QueueControl.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { Runs } from "../../src/store/Runs.ts"
import { Objects } from "../../src/store/Objects.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { ContextRepositories } from "../../src/vcs/ContextRepositories.ts"
import { actorStores, testForges, testSnapshotWith } from "../harness/ActorParts.ts"
import { testCluster } from "../harness/TestCluster.ts"

/** Checkouts that never come to an end by themselves. */
class Checkouts extends Context.Service<
  Checkouts,
  { readonly begun: Ref.Ref<number>; readonly cleaned: Ref.Ref<number> }
>()("test/Checkouts") {
  static readonly layer = Layer.effect(Checkouts, Effect.all({ begun: Ref.make(0), cleaned: Ref.make(0) }))
}

const vcs = Layer.effect(
  Vcs,
  Effect.gen(function* () {
    const { begun, cleaned } = yield* Checkouts
    return Vcs.of({
      checkout: () =>
        Effect.gen(function* () {
          // Cleaning up takes its time; the entry must not end before.
          yield* Effect.addFinalizer(() =>
            Effect.andThen(
              Effect.callback<void>((done) => {
                setImmediate(() => done(Effect.void))
              }),
              Ref.update(cleaned, (count) => count + 1)
            )
          )
          yield* Ref.update(begun, (count) => count + 1)
          return yield* Effect.never
        })
    })
  })
)

const noContext = Layer.succeed(ContextRepositories, ContextRepositories.of({ mount: () => Effect.never }))
const noForge = testForges(Effect.die("no pull request is asked for"))
const world = Executor.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Publisher.layer, Scheduler.layer)),
  Layer.provideMerge(
    Layer.mergeAll(
      actorStores(),
      NodeIdentity.layer("node"),
      vcs,
      noContext,
      Layer.mock(Objects, {}),
      Layer.mock(Agent, {}),
      Layer.mock(Gateway, {}),
      Layer.mock(Catalog, {}),
      Layer.mock(Outputs, { anyFor: () => true, plan: () => [], status: () => [] }),
      Layer.succeed(Forges, {
        ...noForge,
        client: (profile) => ({ ...noForge.client(profile), gitAuthorization: () => Effect.succeed(undefined) })
      }),
      Layer.succeed(ConfigStore, testSnapshotWith("w", "t"))
    )
  ),
  Layer.provideMerge(Checkouts.layer),
  Layer.provideMerge(testCluster)
)

const change = (number: number): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "push", branch: `branch-${number}` },
  head: `h${number}`,
  base: "b"
})

/** Its receipt and its entry. */
const accept = Effect.fnUntraced(function* (number: number) {
  const receipts = yield* Receipts
  const queue = yield* Queue
  const eventId = `event-${number}`
  const work = { change: change(number), configHash: "c", priority: 10, dueAt: 0 }
  yield* receipts.store({
    id: eventId,
    deliveryKey: `gitea:${number}`,
    provider: "gitea",
    event: "push",
    action: undefined,
    trigger: "t",
    workspace: "w",
    targetKind: "push",
    targetKey: targetKey(change(number)),
    repo: "team/app",
    decision: "queued",
    reason: undefined,
    work,
    receivedAt: 0
  })
  const [admitted] = yield* queue.admit([{ eventId, ...work, admittedAt: 0 }])
  return admitted?.entryId ?? ""
})

const scheduler = Effect.map(Scheduler.WorkspaceScheduler.client, (schedulerOf) => schedulerOf("w"))

/** Lets time pass until it is so; at most a minute of it. */
const until = <E, R>(what: string, condition: Effect.Effect<boolean, E, R>, step = "100 millis" as const) =>
  Effect.gen(function* () {
    const begun = yield* Clock.currentTimeMillis
    while (!(yield* condition)) {
      if ((yield* Clock.currentTimeMillis) - begun > 60_000) return yield* Effect.die(new Error(`not so: ${what}`))
      yield* TestClock.adjust(step)
      yield* Effect.callback<void>((done) => {
        setImmediate(() => done(Effect.void))
      })
    }
    return (yield* Clock.currentTimeMillis) - begun
  })

const begunAre = (count: number) =>
  Effect.flatMap(Checkouts, ({ begun }) => Effect.map(Ref.get(begun), (found) => found === count))
const statusIs = (entryId: string, status: string) =>
  Effect.flatMap(Queue, (queue) => Effect.map(queue.get(entryId), (entry) => entry?.status === status))
const running = Effect.fnUntraced(function* (number: number) {
  const { begun } = yield* Checkouts
  const before = yield* Ref.get(begun)
  const entryId = yield* accept(number)
  yield* Effect.forkChild(Effect.flatMap(scheduler, (one) => one.Wake()))
  yield* until("the review runs", begunAre(before + 1))
  return entryId
})

/** Nothing may run when the test ends: stopping waits for it on a clock that stands still. */
const end = Effect.fnUntraced(function* (number: number, entryId: string) {
  yield* (yield* scheduler).Cancel({ targetKey: targetKey(change(number)), reason: "closed" })
  yield* until("the entry has ended", statusIs(entryId, "cancelled"))
})

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, test))

each("a cancelled review ends at once, cleaned up; entry, run and receipt say so, and the place is free", () =>
  Effect.gen(function* () {
    const { cleaned } = yield* Checkouts
    const entryId = yield* running(1)
    const waiting = yield* accept(2)
    yield* (yield* scheduler).Cancel({ targetKey: targetKey(change(1)), reason: "closed" })
    const took = yield* until("the entry has ended", statusIs(entryId, "cancelled"))
    // The lease is renewed after 100 seconds only.
    assert.isBelow(took, 5000)
    assert.strictEqual(yield* Ref.get(cleaned), 1)
    const event = yield* Effect.flatMap(Receipts, (receipts) => receipts.get("event-1"))
    assert.deepStrictEqual([event?.outcome, event?.outcomeReason], ["cancelled", "closed"])
    const [run] = yield* Effect.flatMap(Runs, (runs) => runs.list({ targetKey: targetKey(change(1)), limit: 5 }))
    assert.deepInclude(run, { status: "cancelled", reason: "closed" })
    yield* until("the next one runs", statusIs(waiting, "running"))
    yield* end(2, waiting)
  })
)

each("a request that another node made is learnt with the next renewal", () =>
  Effect.gen(function* () {
    const entryId = yield* running(1)
    yield* Effect.flatMap(QueueControl, (control) => control.cancelEntry(entryId, "unwanted"))
    yield* TestClock.adjust("99 seconds")
    assert.isTrue(yield* statusIs(entryId, "running"))
    yield* until("the entry has ended", statusIs(entryId, "cancelled"))
  })
)

each("a review whose lease is lost ends, and leaves the entry to its new holder", () =>
  Effect.gen(function* () {
    const queue = yield* Queue
    const { cleaned } = yield* Checkouts
    const entryId = yield* running(1)
    yield* queue.reclaim(yield* Clock.currentTimeMillis, () => true)
    yield* queue.release([entryId], yield* Clock.currentTimeMillis)
    const claimed = yield* queue.claim(entryId, "other/1", yield* Clock.currentTimeMillis, 10_000_000)
    assert.isDefined(claimed)
    yield* TestClock.adjust("100 seconds")
    yield* until(
      "it is cleaned up",
      Effect.map(Ref.get(cleaned), (count) => count === 1)
    )
    assert.deepInclude(yield* queue.get(entryId), { status: "running", owner: "other/1" })
  })
)

each("a drained node finishes what runs and takes nothing more until it is resumed", () =>
  Effect.gen(function* () {
    const control = yield* QueueControl
    const entryId = yield* running(1)
    yield* control.pause({ scope: "node", name: "node", reason: "upgrade", since: 0 })
    yield* TestClock.adjust("3 seconds")
    const next = yield* accept(2)
    yield* end(1, entryId)
    yield* until("a ticket is out", statusIs(next, "ready"))
    yield* TestClock.adjust("2 minutes")
    assert.isTrue(yield* statusIs(next, "ready"))
    yield* control.resume("node", "node")
    yield* until("it runs", statusIs(next, "running"))
    yield* end(2, next)
  })
)
