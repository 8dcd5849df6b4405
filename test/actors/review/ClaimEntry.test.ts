/** Claims whose response is lost: an entry that this node owns and does not review waits again within seconds. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { EntryClaims } from "../../../actors/review/ClaimEntry.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { Queue, QueueError } from "../../../src/queue/Queue.ts"
import * as MemoryQueue from "../../../src/queue/journal/MemoryQueue.ts"

const lost = new QueueError({ reason: "unavailable", why: verbatimReason("no response in time") })
/** Failures of the following calls; `after`: the call has an effect all the same. */
const failures: { claim: "before" | "after" | undefined; reads: number } = { claim: undefined, reads: 0 }

const faulty = Layer.effect(
  Queue,
  Effect.map(Queue, (queue) =>
    Queue.of({
      ...queue,
      claim: (...given) =>
        Effect.suspend(() => {
          const when = failures.claim
          failures.claim = undefined
          if (when === "before") return Effect.fail(lost)
          return when === "after" ? Effect.andThen(queue.claim(...given), Effect.fail(lost)) : queue.claim(...given)
        }),
      get: (entryId) => Effect.suspend(() => (failures.reads-- > 0 ? Effect.fail(lost) : queue.get(entryId)))
    })
  )
).pipe(Layer.provide(MemoryQueue.layerMemory({ perWorkspace: 100, total: 100 })))
const world = Layer.merge(faulty, Logger.layer([]))

const change: Change = {
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number: 1 },
  head: "h1"
}
const ttl = 300_000

/** An entry that is ready. */
const prepare = Effect.gen(function* () {
  failures.reads = 0
  const queue = yield* Queue
  const [admitted] = yield* queue.admit([
    { eventId: "event-1", change, configHash: "c", priority: 10, admittedAt: 0, dueAt: 0 }
  ])
  const entryId = admitted?.entryId ?? ""
  yield* queue.promote([entryId], 0)
  return entryId
})
const statusOf = (entryId: string) =>
  Effect.map(
    Queue.use((queue) => queue.get(entryId)),
    (entry) => entry?.status
  )
/** Claims with a failure, as a worker does, then releases what may be claimed. */
const claimAndRelease = (claims: EntryClaims, entryId: string) =>
  Effect.scoped(
    Effect.catchTag(claims.claim(entryId, ttl), "QueueError", (error) => claims.releaseUnconfirmed(entryId, ttl, error))
  ).pipe(Effect.forkChild({ startImmediately: true }))

const each = (name: string, test: () => Effect.Effect<void, unknown, Queue>) =>
  layer(world)((it) => it.effect(name, test))

each("a claim that was recorded is released, also while the queue is unavailable, and costs no attempt", () =>
  Effect.gen(function* () {
    const entryId = yield* prepare
    failures.claim = "after"
    const worker = yield* claimAndRelease(new EntryClaims("node/1"), entryId)
    assert.strictEqual(yield* statusOf(entryId), "running")
    failures.reads = 3
    yield* TestClock.adjust("5 seconds")
    yield* Fiber.join(worker)
    const entry = yield* Queue.use((queue) => queue.get(entryId))
    assert.deepInclude(entry, { status: "waiting", attempts: 0, reason: { _tag: "ClaimUnconfirmed" } })
  })
)

each("an entry that another node claimed is left to it", () =>
  Effect.gen(function* () {
    const entryId = yield* prepare
    failures.claim = "before"
    const worker = yield* claimAndRelease(new EntryClaims("node/1"), entryId)
    yield* Queue.use((queue) => queue.claim(entryId, "other/1", 0, ttl))
    yield* TestClock.adjust("5 seconds")
    yield* Fiber.join(worker)
    assert.strictEqual(yield* statusOf(entryId), "running")
  })
)

each("an entry that another worker of this node claimed is left to it", () =>
  Effect.gen(function* () {
    const entryId = yield* prepare
    const claims = new EntryClaims("node/1")
    failures.claim = "before"
    const worker = yield* claimAndRelease(claims, entryId)
    yield* Effect.scoped(
      Effect.gen(function* () {
        assert.isDefined(yield* claims.claim(entryId, ttl))
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(worker)
        assert.strictEqual(yield* statusOf(entryId), "running")
      })
    )
  })
)
