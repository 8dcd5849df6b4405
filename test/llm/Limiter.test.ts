/** The limiter under a test clock: rates of providers, and permits of an interrupted caller. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Limiter, makeLimiter } from "../../src/llm/Limiter.ts"
import { makeProviderPermits } from "../../src/llm/ProviderPermits.ts"
import type { PermitRequest } from "../../src/llm/ProviderPermits.ts"

const request = (rps?: number): PermitRequest => ({ rps, run: "run", expectedCalls: 1, maxWaitMillis: 3_600_000 })

/** Returns the start of each of `count` concurrent requests, in milliseconds. */
const starts = (count: number, rps: number | undefined, provider = "p") =>
  Effect.gen(function* () {
    const limiter = yield* Limiter
    const began = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.forkChild(
      Effect.forEach(
        Array.from({ length: count }, (_, at) => at),
        () =>
          Effect.andThen(
            limiter.withPermit(provider, request(rps), Effect.void, () => ({ kind: "failed" })),
            Clock.currentTimeMillis
          ),
        { concurrency: "unbounded" }
      )
    )
    yield* TestClock.adjust("1 hour")
    return (yield* Fiber.join(fiber)).map((at) => at - began)
  })

describe("limiter", () => {
  it.effect("starts the requests of a second together, then one by one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* starts(5, 2), [0, 0, 500, 1000, 1500])
    }).pipe(Effect.provide(Limiter.layerMemory))
  )

  it.effect("less than one per second has no burst", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* starts(3, 0.5), [0, 2000, 4000])
    }).pipe(Effect.provide(Limiter.layerMemory))
  )

  it.effect("never more than the rate over any window of a second, after the first burst", () =>
    Effect.gen(function* () {
      const times = yield* starts(100, 10)
      for (const [at, time] of times.slice(20).entries()) assert.isAtLeast(time - (times[at + 10] ?? 0), 1000)
    }).pipe(Effect.provide(Limiter.layerMemory))
  )

  it.effect("providers do not delay each other; without a rate no request waits", () =>
    Effect.gen(function* () {
      yield* starts(10, 1, "p")
      assert.deepStrictEqual(yield* starts(1, 1, "q"), [0])
      assert.deepStrictEqual(yield* starts(3, undefined, "p"), [0, 0, 0])
    }).pipe(Effect.provide(Limiter.layerMemory))
  )
})

it.effect("a release that fails is repeated, so that the next call needs not wait until the permit expires", () =>
  Effect.gen(function* () {
    const permits = yield* makeProviderPermits
    let failures = 3
    const limiter = yield* makeLimiter({
      acquire: (_, id, one) => permits.acquire(id, one),
      release: (_, id, result) =>
        Effect.suspend(() => (failures-- > 0 ? Effect.fail({ message: "unavailable" }) : permits.release(id, result))),
      pause: () => Effect.void,
      renew: () => Effect.void
    })
    yield* limiter.withPermit("p", request(), Effect.void, () => ({ kind: "answered" }))
    assert.strictEqual(permits.held(), 1)
    yield* TestClock.adjust("5 seconds")
    assert.strictEqual(permits.held(), 0)
  }).pipe(Effect.scoped)
)

describe("an interrupted call", () => {
  it.effect("releases a permit that was granted at the moment of the interrupt", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      const renewed: Array<string> = []
      const limiter = yield* makeLimiter({
        // The reply with the permit and the interrupt reach the caller together.
        acquire: (_, id, one) =>
          Effect.withFiber((fiber) =>
            Effect.tap(permits.acquire(id, one), () => Effect.sync(() => fiber.interruptUnsafe()))
          ).pipe(Effect.uninterruptible),
        release: (_, id, result) => permits.release(id, result),
        pause: () => Effect.void,
        renew: (_, ids) =>
          Effect.sync(() => {
            renewed.push(...ids)
          })
      })
      let isUsed = false
      const use = Effect.sync(() => {
        isUsed = true
      })
      const call = yield* Effect.forkChild(limiter.withPermit("p", request(), use, () => ({ kind: "answered" })))
      yield* Fiber.await(call)
      assert.isFalse(isUsed)
      assert.strictEqual(permits.held(), 0)
      yield* TestClock.adjust("10 minutes")
      assert.deepStrictEqual(renewed, [])
    }).pipe(Effect.scoped)
  )

  it.effect("ends without waiting for the source of its permit", () =>
    Effect.gen(function* () {
      const limiter = yield* makeLimiter({
        acquire: () => Effect.never,
        release: () => Effect.never,
        pause: () => Effect.void,
        renew: () => Effect.void
      })
      const call = yield* Effect.forkChild(
        limiter.withPermit("p", request(), Effect.void, () => ({ kind: "answered" })),
        { startImmediately: true }
      )
      yield* Fiber.interrupt(call)
    }).pipe(Effect.scoped)
  )
})
