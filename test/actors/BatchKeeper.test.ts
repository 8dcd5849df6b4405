/** The keeper of automatic commits: records follow the queue, receipts are settled, the next batch of a stream is let in. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestRunner } from "effect/cluster"
import { TestClock } from "effect/testing"
import { look } from "../../actors/BatchKeeper.ts"
import * as Scheduler from "../../actors/WorkspaceScheduler.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Change } from "../../src/domain/Change.ts"
import { targetKey } from "../../src/domain/Change.ts"
import { Priority } from "../../src/domain/Entry.ts"
import { newId } from "../../src/domain/Ids.ts"
import { Cancellations } from "../../src/queue/Cancellations.ts"
import { enqueue } from "../../src/queue/Enqueue.ts"
import * as MemoryQueue from "../../src/queue/MemoryQueue.ts"
import { Queue } from "../../src/queue/Queue.ts"
import type { Finish } from "../../src/queue/Queue.ts"
import { Tickets } from "../../src/queue/Tickets.ts"
import { Batches } from "../../src/store/Batches.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/Store.ts"
import { testSnapshotWith } from "../harness/ActorParts.ts"

const future = 1e12
const queueLayer = MemoryQueue.layerMemory({ perWorkspace: 100, total: 100 })
const world = Scheduler.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      Store.layerMemory,
      queueLayer,
      Cancellations.layerMemory,
      Tickets.layerMemory,
      Layer.succeed(ConfigStore, testSnapshotWith("w", "t"))
    )
  ),
  Layer.provideMerge(TestRunner.layer)
)

/** A push as the ingress takes it: the receipt first, then the queue. Due at once unless said otherwise. */
const push = Effect.fn(function* (base: string, head: string, delay = 0) {
  const change: Change = {
    provider: "gitea",
    trigger: "t",
    workspace: "w",
    repo: { fullName: "team/app" },
    target: { kind: "push", branch: "main" },
    base,
    head,
    commits: 1
  }
  const id = newId()
  const work = { change, configHash: "c", priority: Priority.automatic, dueAt: delay }
  yield* (yield* Receipts).store({
    id,
    deliveryKey: `gitea:${id}`,
    provider: "gitea",
    event: "push",
    action: undefined,
    trigger: "t",
    workspace: "w",
    targetKind: "push",
    targetKey: targetKey(change),
    repo: "team/app",
    decision: "queued",
    reason: undefined,
    work,
    receivedAt: 0
  })
  yield* enqueue([{ eventId: id, ...work, admittedAt: 0 }])
  return id
})

const batches = Effect.flatMap(Batches, (records) =>
  Effect.map(records.list({ limit: 100 }), (found) => found.toReversed())
)
const statuses = Effect.map(batches, (found) => found.map(({ status }) => status))
const outcomeOf = (id: string) =>
  Effect.flatMap(Receipts, (receipts) => Effect.map(receipts.get(id), (event) => event?.outcome))

/** The queue's one entry is claimed. */
const start = Effect.gen(function* () {
  const queue = yield* Queue
  const [entry, ...others] = yield* queue.load("w")
  assert.deepStrictEqual(others, [])
  if (entry?.status === "waiting") yield* queue.release([entry.id], 0)
  const claimed = yield* queue.claim(entry?.id ?? "", "me", 0, 1000)
  if (claimed === undefined) return yield* Effect.die(new Error("it was not there to be claimed"))
  return claimed
})
const end = Effect.fn(function* (finish: Finish) {
  const { lease } = yield* start
  assert(yield* (yield* Queue).finish(lease, finish))
})

/** Once the cluster has placed the scheduler that is woken. */
const placed = Effect.gen(function* () {
  const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
  const woken = yield* Effect.forkChild(schedulerOf("w").Wake())
  while (woken.pollUnsafe() === undefined) yield* TestClock.adjust("1 seconds")
})

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, () => Effect.andThen(placed, test())))

each("what waits is let in one by one, in order, as the one before ends", () =>
  Effect.gen(function* () {
    const events = [yield* push("a", "b"), yield* push("b", "c"), yield* push("c", "d")]
    yield* look(false)
    assert.deepStrictEqual(yield* statuses, ["ready", "ready", "ready"])
    const { entry, lease } = yield* start
    assert.strictEqual(entry.change.head, "b")
    yield* look(false)
    assert.deepStrictEqual(yield* statuses, ["running", "ready", "ready"])
    assert.strictEqual((yield* batches)[1]?.reason, "waits for the batch before it")

    yield* (yield* Queue).finish(lease, { _tag: "Retry", dueAt: 0, reason: "host is down", counted: true })
    yield* look(false)
    assert.deepStrictEqual(yield* statuses, ["retry_wait", "ready", "ready"])
    assert.strictEqual((yield* batches)[0]?.reason, "host is down")

    yield* end({ _tag: "Done" })
    yield* look(false)
    assert.deepStrictEqual(yield* statuses, ["succeeded", "ready", "ready"])
    yield* end({ _tag: "Done", reason: "nothing to review" })
    yield* look(false)
    yield* end({ _tag: "Dead", reason: "no such commit" })
    yield* look(false)
    assert.deepStrictEqual(yield* statuses, ["succeeded", "skipped", "dead"])
    assert.deepStrictEqual(yield* Effect.forEach(events, outcomeOf), ["executed", "skipped", "failed"])
    const members = yield* Effect.flatMap(Batches, (records) =>
      Effect.flatMap(batches, (found) => Effect.forEach(found, ({ id }) => records.members(id)))
    )
    assert.deepStrictEqual(
      members.flat().map(({ status }) => status),
      ["completed", "skipped", "failed"]
    )
    assert.deepStrictEqual(yield* (yield* Queue).load("w"), [])
  })
)

each("a queue that forgot everything gets the batch back whole, and the one after it in its turn", () =>
  Effect.gen(function* () {
    const events = [yield* push("a", "b", future), yield* push("b", "c", future)]
    const later = yield* push("c", "d")
    assert.lengthOf(yield* batches, 1)
    const [before] = yield* (yield* Queue).load("w")
    yield* Effect.gen(function* () {
      yield* look(true)
      const [entry, ...others] = yield* (yield* Queue).load("w")
      assert.deepStrictEqual(others, [])
      assert.notStrictEqual(entry?.id, before?.id)
      assert.deepInclude(entry?.change, { base: "a", head: "d", commits: 3 })
      assert.deepStrictEqual(entry?.events, [...events, later])
      assert.strictEqual((yield* batches)[0]?.entryId, entry?.id)
      yield* look(true)
      assert.lengthOf(yield* (yield* Queue).load("w"), 1)
    }).pipe(Effect.provide(Layer.fresh(queueLayer)))
  })
)

each("what was settled before the crash is not reviewed again", () =>
  Effect.gen(function* () {
    const id = yield* push("a", "b")
    yield* (yield* Receipts).settle([id], { outcome: "executed", runId: "run" }, 5)
    yield* Effect.gen(function* () {
      yield* look(false)
      assert.deepStrictEqual(yield* (yield* Queue).load("w"), [])
    }).pipe(Effect.provide(Layer.fresh(queueLayer)))
    assert.deepInclude((yield* batches)[0], { status: "succeeded", runId: "run" })
  })
)

each("an entry that was cancelled ends its batch", () =>
  Effect.gen(function* () {
    const id = yield* push("a", "b", future)
    yield* (yield* Queue).cancel("t:team/app:push:main", "not wanted")
    yield* look(true)
    assert.deepInclude((yield* batches)[0], { status: "cancelled", reason: "not wanted" })
    assert.strictEqual(yield* outcomeOf(id), "cancelled")
  })
)
