/** Operations of operators, over a real queue and records: reasons, cancelling, retrying, pausing. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { admit } from "../../../src/queue/AutomaticCommits.ts"
import * as MemoryQueue from "../../../src/queue/journal/MemoryQueue.ts"
import { Operations } from "../../../src/queue/operator/Operations.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Batches } from "../../../src/store/Batches.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { testSnapshotWith } from "../../harness/ActorParts.ts"
import { admission } from "../Admissions.ts"
import { inEnglish } from "../../../src/text/en.ts"

const received: Array<string> = []
const world = Operations.layerWith({
  changed: (workspace) => Effect.sync(() => void received.push(`changed ${workspace}`)),
  stopping: (entryId, reason) => Effect.sync(() => void received.push(`stopping ${entryId} ${inEnglish(reason)}`))
}).pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      Store.layerMemory,
      MemoryQueue.layerMemory({ perWorkspace: 100, total: 100 }),
      Layer.succeed(ConfigStore, testSnapshotWith("app", "main"))
    )
  )
)
const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) =>
    it.effect(name, () => {
      received.length = 0
      return Effect.andThen(TestClock.setTime(1000), test())
    })
  )

const one = Effect.fn(function* (over?: Parameters<typeof admission>[0]) {
  const [answer] = yield* admit([admission(over)])
  return answer?.entryId ?? ""
})
const running = Effect.fn(function* (entryId: string) {
  const queue = yield* Queue
  yield* queue.promote([entryId], 1000)
  const claimed = yield* queue.claim(entryId, "node/1", 1000, 500)
  if (claimed === undefined) return yield* Effect.die(new Error("not claimed"))
  return claimed.lease
})
const push = (head: string, dueAt: number) => {
  const item = admission({ head, dueAt })
  return { ...item, change: { ...item.change, target: { kind: "push", branch: "main" } as const } }
}

each("each entry shows why it waits and until when", () =>
  Effect.gen(function* () {
    const operations = yield* Operations
    const first = yield* one({ number: 1 })
    yield* one({ number: 2 })
    yield* one({ number: 3, dueAt: 5000, reason: { _tag: "AwaitsSchedule" } })
    yield* running(first)
    const { items } = yield* operations.list({ limit: 10 })
    assert.deepStrictEqual(
      items.map(({ position }) => [position.why._tag, position.until]),
      [
        ["Runs", 1500],
        ["WorkspaceFull", undefined],
        ["NotDue", 5000]
      ]
    )
    assert.deepStrictEqual(items[2]?.position.why, { _tag: "NotDue", reason: { _tag: "AwaitsSchedule" } })
    yield* operations.pause("workspace", "app", verbatimReason("release day"))
    const paused = (yield* operations.list({ limit: 10, statuses: ["waiting"] })).items
    assert.deepStrictEqual(
      paused.map(({ position }) => position.why._tag),
      ["WorkspacePaused", "WorkspacePaused"]
    )
    yield* operations.resume("workspace", "app")
    assert.deepStrictEqual(yield* operations.pauses, [])
    assert.deepStrictEqual(received, ["changed app", "changed app"])
  })
)

each("entries that may start have positions in the order of the scheduler", () =>
  Effect.gen(function* () {
    const operations = yield* Operations
    const [later, first, next] = [
      yield* one({ number: 1, admittedAt: 900 }),
      yield* one({ number: 2, priority: 1, admittedAt: 950 }),
      yield* one({ number: 3, admittedAt: 800 })
    ]
    const due = yield* one({ number: 4, dueAt: 5000 })
    const positions = new Map(
      (yield* operations.list({ limit: 10 })).items.map(({ entry, position }) => [entry.id, position])
    )
    assert.deepStrictEqual(
      [first, next, later, due].map((id) => positions.get(id)?.position),
      [1, 2, 3, undefined]
    )
    assert.deepStrictEqual(
      [due, first].map((id) => positions.get(id)?.startsAfter),
      [5000, undefined]
    )
    yield* running(first)
    const newer = yield* one({ number: 2, head: "f".repeat(40) })
    const behind = (yield* operations.list({ limit: 10 })).items.find(({ entry }) => entry.id === newer)
    assert.strictEqual(behind?.position.behind, first)
    assert.isUndefined(behind?.position.position)
  })
)

each("cancelling notifies the worker of running entries and the scheduler of waiting ones", () =>
  Effect.gen(function* () {
    const operations = yield* Operations
    const [runs, waits] = [yield* one({ number: 1 }), yield* one({ number: 2 })]
    yield* running(runs)
    assert.strictEqual(yield* operations.cancel(runs, verbatimReason("not wanted")), "stopping")
    assert.strictEqual(yield* operations.cancel(waits, verbatimReason("not wanted")), "cancelled")
    assert.strictEqual(yield* operations.cancel(waits, verbatimReason("not wanted")), "over")
    assert.strictEqual(yield* operations.cancel("nothing", verbatimReason("not wanted")), "unknown")
    assert.deepStrictEqual(received, [`stopping ${runs} not wanted`, "changed app"])
  })
)

each("a dead batch is tried again by its own id, and its record lives again", () =>
  Effect.gen(function* () {
    const operations = yield* Operations
    const batches = yield* Batches
    const [answer] = yield* admit([push("b", 900)])
    const entryId = answer?.entryId ?? ""
    yield* (yield* Queue).finish(yield* running(entryId), { _tag: "Dead", reason: verbatimReason("no such commit") })
    const [batch] = yield* batches.list({ limit: 1 })
    yield* batches.follow(batch?.id ?? "", { status: "dead", reason: verbatimReason("no such commit") }, 1000)
    assert.strictEqual(yield* operations.retry(batch?.id ?? ""), "retried")
    assert.strictEqual((yield* (yield* Queue).get(entryId))?.status, "waiting")
    assert.deepInclude(yield* batches.get(batch?.id ?? ""), { status: "ready", finishedAt: undefined })
    const members = yield* batches.members(batch?.id ?? "")
    assert.deepStrictEqual(
      members.map(({ status }) => status),
      ["batched"]
    )
    assert.strictEqual(yield* operations.retry(entryId), "not_dead")
    assert.strictEqual(yield* operations.retry("nothing"), "unknown")
  })
)

each("a batch that is held back is shown, and cancelled without touching the one in the queue", () =>
  Effect.gen(function* () {
    const operations = yield* Operations
    const [first] = yield* admit([push("b", 900)])
    yield* admit([{ ...push("c", 2000), admittedAt: 950 }])
    const [held, ...others] = yield* operations.heldBatches("app", 10)
    assert.deepStrictEqual(others, [])
    assert.deepInclude(yield* operations.show(held?.id ?? ""), { _tag: "Batch", members: 1 })
    assert.strictEqual(yield* operations.cancel(held?.id ?? "", verbatimReason("not wanted")), "cancelled")
    assert.deepStrictEqual(yield* operations.heldBatches("app", 10), [])
    assert.strictEqual((yield* (yield* Queue).get(first?.entryId ?? ""))?.status, "waiting")
  })
)

each("entries are found by words of their changes, and between times of admission", () =>
  Effect.gen(function* () {
    const operations = yield* Operations
    const first = yield* one({ number: 1, admittedAt: 100 })
    const second = yield* one({ number: 2, admittedAt: 200 })
    const ids = (filter: Parameters<typeof operations.list>[0]) =>
      Effect.map(operations.list(filter), ({ items, next }) => [items.map(({ entry }) => entry.id), next])
    assert.deepStrictEqual(yield* ids({ terms: ["acme/app#2"], limit: 10 }), [[second], undefined])
    assert.deepStrictEqual(yield* ids({ terms: ["acme", "app"], limit: 1 }), [[first], first])
    assert.deepStrictEqual(yield* ids({ terms: ["acme", "app"], limit: 1, after: first }), [[second], undefined])
    assert.deepStrictEqual(yield* ids({ terms: ["none"], limit: 1 }), [[], undefined])
    assert.deepStrictEqual(yield* ids({ since: 200, limit: 10 }), [[second], undefined])
    assert.deepStrictEqual(yield* ids({ until: 200, terms: ["acme"], limit: 10 }), [[first], undefined])
  })
)
