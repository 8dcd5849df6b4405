/** Renewal of leases by an executor, and its reaction to the reply. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import type { Reason } from "../../../src/domain/Reason.ts"
import { keepLease } from "../../../actors/review/ReviewExecutor.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { Queue, QueueError } from "../../../src/queue/Queue.ts"
import type { Renewal } from "../../../src/queue/Queue.ts"

const seconds = (count: number) => count * 1000
const ttl = seconds(300)
const unavailable = new QueueError({ reason: "unavailable", why: verbatimReason("the queue is unavailable") })

/** `keepLease` on a clock that can jump ahead of its timers, as that of a process that was frozen does. */
const leaseKept = Effect.fnUntraced(function* (renew: () => Effect.Effect<Renewal, QueueError>) {
  const clock = yield* Clock.Clock
  const renewals: Array<number> = []
  let ahead = 0
  const millis = () => clock.currentTimeMillisUnsafe() + ahead
  const jumping: Clock.Clock = {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
    currentTimeNanos: clock.currentTimeNanos,
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
  const queue = Layer.mock(Queue, {
    renew: () => Effect.suspend(() => (renewals.push(millis()), renew()))
  })
  const cancelled = yield* Deferred.make<Reason>()
  const fiber = yield* keepLease({ entryId: "entry", token: LeaseToken.make(1) }, ttl, cancelled).pipe(
    Effect.provide(queue),
    Effect.provideService(Clock.Clock, jumping),
    Effect.forkChild({ startImmediately: true })
  )
  return {
    renewals,
    cancelled,
    fiber,
    jump: (millisAhead: number) => {
      ahead += millisAhead
    }
  }
})
const kept = Effect.succeed<Renewal>({ _tag: "Kept" })

describe("a lease", () => {
  it.effect("is renewed at a third of its time", () =>
    Effect.gen(function* () {
      const { renewals } = yield* leaseKept(() => kept)
      yield* TestClock.adjust("99 seconds")
      assert.deepStrictEqual(renewals, [])
      yield* TestClock.adjust("101 seconds")
      assert.deepStrictEqual(renewals, [seconds(100), seconds(200)])
    })
  )

  it.effect("is renewed immediately after the process was frozen, but not after a short pause", () =>
    Effect.gen(function* () {
      const { jump, renewals } = yield* leaseKept(() => kept)
      yield* TestClock.adjust("10 seconds")
      jump(seconds(4))
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(renewals, [])
      jump(seconds(5))
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(renewals, [seconds(21)])
      yield* TestClock.adjust("99 seconds")
      assert.deepStrictEqual(renewals, [seconds(21)])
      yield* TestClock.adjust("1 seconds")
      assert.deepStrictEqual(renewals, [seconds(21), seconds(121)])
    })
  )

  it.effect("that another executor has is lost at the first renewal after the process was frozen", () =>
    Effect.gen(function* () {
      const { fiber, jump } = yield* leaseKept(() => Effect.succeed<Renewal>({ _tag: "Lost" }))
      jump(seconds(30))
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "lease-lost")
    })
  )

  it.effect("survives a queue that is unavailable until its own end", () =>
    Effect.gen(function* () {
      const { fiber, renewals } = yield* leaseKept(() => Effect.fail(unavailable))
      yield* TestClock.adjust("299 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "lease-lost")
      assert.deepStrictEqual(renewals, [seconds(100), seconds(200), seconds(300)])
    })
  )

  it.effect("passes a request to cancel on", () =>
    Effect.gen(function* () {
      const { cancelled } = yield* leaseKept(() =>
        Effect.succeed<Renewal>({ _tag: "Cancelled", reason: verbatimReason("closed") })
      )
      yield* TestClock.adjust("100 seconds")
      assert.deepStrictEqual(yield* Deferred.await(cancelled), verbatimReason("closed"))
    })
  )
})
