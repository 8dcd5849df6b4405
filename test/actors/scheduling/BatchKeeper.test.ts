/** The keeper of automatic commits: records follow the queue, receipts are settled, the next batch of a stream is queued. */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import type { Sharding } from "effect/cluster"
import { TestClock } from "effect/testing"
import { scan, scanDue } from "../../../actors/scheduling/BatchKeeper.ts"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import { Priority } from "../../../src/domain/Entry.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { DeliveryKey, TargetKey } from "../../../src/domain/Keys.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { enqueue } from "../../../src/queue/Enqueue.ts"
import * as MemoryQueue from "../../../src/queue/journal/MemoryQueue.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import type { Finish } from "../../../src/queue/Queue.ts"
import { QueueControl } from "../../../src/queue/operator/QueueControl.ts"
import { Batches } from "../../../src/store/Batches.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import type { Runs } from "../../../src/store/Runs.ts"
import { actorStores, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"

const future = 1e12
/** An in-memory queue after a restart. */
const emptyQueue = Layer.fresh(MemoryQueue.layerMemory({ perWorkspace: 100, total: 100 }))
const stores = Layer.mergeAll(actorStores(), Layer.succeed(ConfigStore, testSnapshotWith("w", "t")))
const world = Scheduler.layer.pipe(Layer.provideMerge(stores), Layer.provideMerge(testCluster))

/** Stores a push like the ingress: the receipt first, then the queue. Due immediately by default. */
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
    deliveryKey: DeliveryKey.make(`gitea:${id}`),
    provider: "gitea",
    event: "push",
    action: undefined,
    trigger: "t",
    workspace: "w",
    targetKind: "push",
    targetKey: targetKey(change),
    repo: "team/app",
    facts: {},
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

/** Claims the only entry of the queue. */
const start = Effect.gen(function* () {
  const queue = yield* Queue
  const [entry, ...others] = yield* queue.load("w")
  assert.deepStrictEqual(others, [])
  if (entry?.status === "waiting") yield* queue.promote([entry.id], 0)
  const claimed = yield* queue.claim(entry?.id ?? "", "me", 0, 1000)
  if (claimed === undefined) return yield* Effect.die(new Error("it was not there to be claimed"))
  return claimed
})
const end = Effect.fn(function* (finish: Finish) {
  const { lease } = yield* start
  assert(yield* (yield* Queue).finish(lease, finish))
})

/** Waits until the cluster has placed the scheduler that is woken. */
const placed = Effect.gen(function* () {
  const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
  const woken = yield* Effect.forkChild(schedulerOf("w").Wake())
  while (woken.pollUnsafe() === undefined) yield* TestClock.adjust("1 seconds")
})

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, () => Effect.andThen(placed, test())))

each("a scan of due batches follows another after two seconds while one is unfinished, else after ten", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* scanDue, Duration.seconds(10))
    assert.deepStrictEqual(yield* statuses, [])
    yield* push("a", "b")
    assert.deepStrictEqual(yield* scanDue, Duration.seconds(2))
    assert.deepStrictEqual(yield* statuses, ["ready"])
  })
)

each("waiting pushes are added one by one, in order, as the one before ends", () =>
  Effect.gen(function* () {
    const events = [yield* push("a", "b"), yield* push("b", "c"), yield* push("c", "d")]
    yield* scan(false)
    assert.deepStrictEqual(yield* statuses, ["ready", "ready", "ready"])
    const { entry, lease } = yield* start
    assert.strictEqual(entry.change.head, "b")
    yield* scan(false)
    assert.deepStrictEqual(yield* statuses, ["running", "ready", "ready"])
    assert.deepStrictEqual((yield* batches)[1]?.reason, { _tag: "PreviousBatch" })

    yield* (yield* Queue).finish(lease, {
      _tag: "Retry",
      dueAt: 0,
      reason: verbatimReason("host is down"),
      counted: true
    })
    yield* scan(false)
    assert.deepStrictEqual(yield* statuses, ["retry_wait", "ready", "ready"])
    assert.deepStrictEqual((yield* batches)[0]?.reason, verbatimReason("host is down"))

    yield* end({ _tag: "Done" })
    yield* scan(false)
    assert.deepStrictEqual(yield* statuses, ["succeeded", "ready", "ready"])
    yield* end({ _tag: "Done", reason: verbatimReason("nothing to review") })
    yield* scan(false)
    yield* end({ _tag: "Dead", reason: verbatimReason("no such commit") })
    yield* scan(false)
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
      yield* scan(true)
      const [entry, ...others] = yield* (yield* Queue).load("w")
      assert.deepStrictEqual(others, [])
      assert.notStrictEqual(entry?.id, before?.id)
      assert.deepInclude(entry?.change, { base: "a", head: "d", commits: 3 })
      assert.deepStrictEqual(entry?.events, [...events, later])
      assert.strictEqual((yield* batches)[0]?.entryId, entry?.id)
      yield* scan(true)
      assert.lengthOf(yield* (yield* Queue).load("w"), 1)
    }).pipe(Effect.provide(emptyQueue))
  })
)

each("what was settled before the crash is not reviewed again", () =>
  Effect.gen(function* () {
    const id = yield* push("a", "b")
    yield* (yield* Receipts).settle([id], { outcome: "executed", runId: "run" }, 5)
    yield* Effect.gen(function* () {
      yield* scan(false)
      assert.deepStrictEqual(yield* (yield* Queue).load("w"), [])
    }).pipe(Effect.provide(emptyQueue))
    assert.deepInclude((yield* batches)[0], { status: "succeeded", runId: "run" })
  })
)

each("an entry that was cancelled ends its batch", () =>
  Effect.gen(function* () {
    const id = yield* push("a", "b", future)
    yield* (yield* Queue).cancel(TargetKey.make("t:team/app:push:main"), verbatimReason("not wanted"))
    yield* scan(true)
    assert.deepInclude((yield* batches)[0], { status: "cancelled", reason: verbatimReason("not wanted") })
    assert.strictEqual(yield* outcomeOf(id), "cancelled")
  })
)

const isDead = Effect.gen(function* () {
  const event = yield* push("a", "b")
  yield* scan(false)
  yield* end({ _tag: "Dead", reason: verbatimReason("the host was away") })
  yield* scan(false)
  const [batch] = yield* batches
  assert(batch !== undefined)
  assert.strictEqual(batch.status, "dead")
  assert.strictEqual(yield* outcomeOf(event), "failed")
  return { event, batchId: batch.id, entryId: batch.entryId ?? "" }
})
const retried = Effect.fn(function* (entryId: string) {
  const schedulerOf = yield* Scheduler.WorkspaceScheduler.client
  assert.strictEqual(yield* schedulerOf("w").Retry({ entryId }), "retried")
})
const isTriedAgain = Effect.fn(function* (event: string, batchId: string) {
  const records = yield* Batches
  assert.deepInclude(yield* records.get(batchId), { status: "ready", finishedAt: undefined, reason: undefined })
  assert.deepStrictEqual(
    (yield* records.members(batchId)).map(({ status }) => status),
    ["batched"]
  )
  assert.isUndefined(yield* outcomeOf(event))
  yield* end({ _tag: "Done" })
  yield* scan(false)
  assert.deepStrictEqual(yield* statuses, ["succeeded"])
  assert.strictEqual(yield* outcomeOf(event), "executed")
})

each("a dead batch that an operator has tried again is open with its receipts, and ends by its next review", () =>
  Effect.gen(function* () {
    const { batchId, entryId, event } = yield* isDead
    yield* retried(entryId)
    yield* isTriedAgain(event, batchId)
  })
)

/** A queue that scans the batches right before a dead entry waits again. */
const looking = Layer.effect(
  QueueControl,
  Effect.gen(function* () {
    const control = yield* QueueControl
    const services = yield* Effect.context<Batches | Queue | Receipts | Runs | ConfigStore | Sharding.Sharding>()
    return QueueControl.of({
      ...control,
      retry: (entryId, now) =>
        Effect.andThen(Effect.orDie(Effect.provide(scan(true), services)), control.retry(entryId, now))
    })
  })
).pipe(Layer.provideMerge(stores), Layer.provideMerge(testCluster))

layer(Scheduler.layer.pipe(Layer.provideMerge(looking), Layer.provideMerge(testCluster)))((it) =>
  it.effect("also when the keeper scans it while it is being retried", () =>
    Effect.gen(function* () {
      yield* placed
      const { batchId, entryId, event } = yield* isDead
      yield* retried(entryId)
      yield* isTriedAgain(event, batchId)
    })
  )
)
