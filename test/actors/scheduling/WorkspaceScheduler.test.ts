/** The scheduler: a due entry gets a ticket, later ones set the alarm, a lost ticket is offered again. */
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import * as Scheduler from "../../../actors/scheduling/WorkspaceScheduler.ts"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { DeliveryKey } from "../../../src/domain/Keys.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { Queue } from "../../../src/queue/Queue.ts"
import { Tickets } from "../../../src/queue/dispatch/Tickets.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { actorStores, testSnapshotWith } from "../../harness/ActorParts.ts"
import { testCluster } from "../../harness/TestCluster.ts"

let surveys = 0
const countedQueue = Layer.effect(
  Queue,
  Effect.map(Queue, (queue) =>
    Queue.of({
      ...queue,
      loadSnapshot: (...asked) => Effect.suspend(() => (surveys++, queue.loadSnapshot(...asked)))
    })
  )
)
const stores = Layer.provideMerge(countedQueue, actorStores())

const world = Scheduler.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(stores, Layer.succeed(ConfigStore, testSnapshotWith("w", "t")))),
  Layer.provideMerge(testCluster)
)

const change = (number: number): Change => ({
  provider: "gitea",
  trigger: "t",
  workspace: "w",
  repo: { fullName: "team/app" },
  target: { kind: "pull_request", number },
  head: `h${number}`
})

const admit = (number: number, dueAt = 0) =>
  Effect.flatMap(Queue, (queue) =>
    queue.admit([
      { eventId: `event-${number}`, change: change(number), configHash: "c", priority: 10, admittedAt: number, dueAt }
    ])
  )
const wake = Effect.flatMap(Scheduler.WorkspaceScheduler.client, (schedulerOf) => schedulerOf("w").Wake())
/** Returns the time when the cluster has placed the actor. */
const ready = Effect.gen(function* () {
  const woken = yield* Effect.forkChild(wake)
  while (woken.pollUnsafe() === undefined) yield* TestClock.adjust("1 seconds")
  return yield* Clock.currentTimeMillis
})
const nextTicket = Effect.flatMap(Tickets, (tickets) =>
  Effect.map(tickets.take("review"), ({ entryId, workspace }) => ({ entryId, workspace }))
)
/** Returns the current ticket, if any. */
const ticketNow = Effect.gen(function* () {
  const waiting = yield* Effect.forkChild(Effect.timeoutOption(nextTicket, "1 millis"), { startImmediately: true })
  yield* TestClock.adjust("1 millis")
  return Option.getOrUndefined(yield* Fiber.join(waiting))
})
const numberOf = (entryId: string) =>
  Effect.flatMap(Queue, (queue) => Effect.map(queue.get(entryId), (entry) => entry?.change.target.number))

const each = (name: string, test: () => Effect.Effect<void, unknown, Layer.Success<typeof world>>) =>
  layer(world)((it) => it.effect(name, test))

each("one at a time per workspace by default, the next when the first has ended", () =>
  Effect.gen(function* () {
    const queue = yield* Queue
    yield* ready
    yield* admit(1)
    yield* admit(2)
    yield* wake
    const first = yield* nextTicket
    assert.strictEqual(yield* numberOf(first.entryId), 1)
    yield* wake
    assert.strictEqual(yield* ticketNow, undefined)
    const claimed = yield* queue.claim(first.entryId, "me", 0, 1000)
    assert(claimed !== undefined)
    yield* wake
    assert.strictEqual(yield* ticketNow, undefined)
    assert(yield* queue.finish(claimed.lease, { _tag: "Done" }))
    yield* wake
    assert.strictEqual(yield* numberOf((yield* nextTicket).entryId), 2)
  })
)

each("wakes that come together lead to one scan, which includes the entries of the last of them", () =>
  Effect.gen(function* () {
    yield* ready
    const before = surveys
    yield* admit(1)
    yield* Effect.forEach(Array.from({ length: 200 }), () => wake, { concurrency: "unbounded" })
    assert.strictEqual(yield* numberOf((yield* nextTicket).entryId), 1)
    assert.isAtLeast(surveys - before, 1)
    assert.isAtMost(surveys - before, 3)
  })
)

each("work that is not due yet starts by itself when it is", () =>
  Effect.gen(function* () {
    yield* admit(1, (yield* ready) + 60_000)
    yield* wake
    yield* TestClock.adjust("59 seconds")
    assert.strictEqual(yield* ticketNow, undefined)
    yield* TestClock.adjust("1 seconds")
    assert.strictEqual(yield* numberOf((yield* nextTicket).entryId), 1)
  })
)

each("an unclaimed ticket is offered again", () =>
  Effect.gen(function* () {
    yield* ready
    yield* admit(1)
    yield* wake
    const lost = yield* nextTicket
    yield* TestClock.adjust("29 seconds")
    assert.strictEqual(yield* ticketNow, undefined)
    yield* TestClock.adjust("2 seconds")
    assert.deepStrictEqual(yield* nextTicket, lost)
  })
)

each("cancelling ends waiting entries and records it on their receipts", () =>
  Effect.gen(function* () {
    const receipts = yield* Receipts
    const dueAt = (yield* ready) + 90_000
    const work = { change: change(1), configHash: "c", priority: 10, dueAt }
    yield* receipts.store({
      id: "event-1",
      deliveryKey: DeliveryKey.make("gitea:1"),
      provider: "gitea",
      event: "pull_request",
      action: "opened",
      trigger: "t",
      workspace: "w",
      targetKind: "pull_request",
      targetKey: targetKey(change(1)),
      repo: "team/app",
      facts: {},
      decision: "deferred",
      reason: undefined,
      work,
      receivedAt: 0
    })
    yield* admit(1, dueAt)
    yield* wake
    const scheduler = (yield* Scheduler.WorkspaceScheduler.client)("w")
    yield* scheduler.Cancel({ targetKey: targetKey(change(1)), reason: verbatimReason("closed") })
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual(yield* ticketNow, undefined)
    const event = yield* receipts.get("event-1")
    assert.deepStrictEqual([event?.outcome, event?.outcomeReason], ["cancelled", verbatimReason("closed")])
  })
)

each("a paused workspace starts nothing, takes its ticket back, and goes on when it is resumed", () =>
  Effect.gen(function* () {
    const queue = yield* Queue
    yield* ready
    const [admitted] = yield* admit(1)
    const entryId = admitted?.entryId ?? ""
    yield* wake
    const early = yield* nextTicket
    const scheduler = (yield* Scheduler.WorkspaceScheduler.client)("w")
    yield* scheduler.Pause({ reason: verbatimReason("ada: too noisy") })
    assert.strictEqual(yield* queue.claim(early.entryId, "me", 0, 1000), undefined)
    yield* admit(2)
    yield* wake
    yield* TestClock.adjust("5 minutes")
    assert.strictEqual(yield* ticketNow, undefined)
    yield* scheduler.Resume()
    assert.strictEqual((yield* nextTicket).entryId, entryId)
  })
)

each("an operator cancels one entry and tries a dead one again", () =>
  Effect.gen(function* () {
    const queue = yield* Queue
    yield* ready
    const scheduler = (yield* Scheduler.WorkspaceScheduler.client)("w")
    const [first] = yield* admit(1)
    const entryId = first?.entryId ?? ""
    yield* wake
    const ticket = yield* nextTicket
    const claimed = yield* queue.claim(ticket.entryId, "me", 0, 1000)
    assert(claimed !== undefined)
    assert.strictEqual(yield* scheduler.Retry({ entryId }), "not_dead")
    assert.strictEqual(yield* scheduler.CancelEntry({ entryId, reason: verbatimReason("unwanted") }), "stopping")
    yield* queue.finish(claimed.lease, { _tag: "Dead", reason: verbatimReason("3 attempts") })
    assert.strictEqual(yield* scheduler.CancelEntry({ entryId, reason: verbatimReason("unwanted") }), "over")
    assert.strictEqual(yield* scheduler.Retry({ entryId: "none" }), "unknown")
    assert.strictEqual(yield* scheduler.Retry({ entryId }), "retried")
    assert.strictEqual((yield* nextTicket).entryId, entryId)
    assert.strictEqual(yield* scheduler.CancelEntry({ entryId, reason: verbatimReason("unwanted") }), "cancelled")
    const other = (yield* Scheduler.WorkspaceScheduler.client)("other")
    assert.strictEqual(yield* other.CancelEntry({ entryId, reason: verbatimReason("not theirs") }), "over")
  })
)
