/** Permits of a provider under a test clock: rate, concurrency, order of runs, pauses, bounded waits, expiry. */
import { randomUUID } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { makeProviderPermits } from "../../src/llm/ProviderPermits.ts"
import type { Permit, PermitRequest, ProviderPermits } from "../../src/llm/ProviderPermits.ts"

const hour = 3_600_000

const request = (run: string, more: Partial<PermitRequest> = {}): PermitRequest => ({
  run,
  expectedCalls: 1,
  rps: undefined,
  maxWaitMillis: hour,
  ...more
})

type Taken = { readonly _tag: "Granted"; readonly id: string } | Exclude<Permit, { readonly _tag: "Granted" }>

/** Acquires a permit with a fresh id. */
const take = (permits: ProviderPermits, one: PermitRequest): Effect.Effect<Taken> =>
  Effect.suspend(() => {
    const id = randomUUID()
    return Effect.map(permits.acquire(id, one), (permit) => (permit._tag === "Granted" ? { ...permit, id } : permit))
  })

const idOf = (permit: Taken) => (permit._tag === "Granted" ? Effect.succeed(permit.id) : Effect.die(permit))

/** The provider requests a pause in response to a call. */
const pause = (permits: ProviderPermits, retryAfterMillis: number) =>
  permits.release("", { kind: "failed", retryAfterMillis })

/** Requests permits in this order, all at the same time; returns the order and time of the starts. */
const asking = (permits: ProviderPermits, runs: ReadonlyArray<string>, rps: number | undefined, maxWait = hour) =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    const went: Array<readonly [string, number]> = []
    const fiber = yield* Effect.forkChild(
      Effect.forEach(
        runs,
        (run) =>
          Effect.gen(function* () {
            const permit = yield* take(permits, { run, rps, maxWaitMillis: maxWait, expectedCalls: 1 })
            if (permit._tag === "Granted") went.push([run, (yield* Clock.currentTimeMillis) - began])
            yield* permits.release(permit._tag === "Granted" ? permit.id : "", { kind: "failed" })
            return permit
          }),
        { concurrency: "unbounded" }
      )
    )
    yield* TestClock.adjust("1 hour")
    return { went, answers: yield* Fiber.join(fiber) }
  })

describe("permits of a provider", () => {
  it.effect("runs that wait are served in rounds, however many requests one of them has", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      const { went } = yield* asking(permits, ["big", "big", "big", "big", "big", "small", "other"], 1)
      assert.deepStrictEqual(
        went.map(([run]) => run),
        ["big", "big", "small", "other", "big", "big", "big"]
      )
      assert.deepStrictEqual(
        went.map(([, at]) => at),
        [0, 1000, 2000, 3000, 4000, 5000, 6000]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("nothing starts during a pause; after it requests start one by one", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      yield* pause(permits, 5000)
      const { went } = yield* asking(permits, ["a", "b", "c"], undefined)
      assert.deepStrictEqual(
        went.map(([, at]) => at),
        [5000, 5100, 5200]
      )
      const later = yield* asking(permits, ["a"], undefined)
      assert.deepStrictEqual(later.went, [["a", 0]])
    }).pipe(Effect.scoped)
  )

  it.effect("nothing starts until an exhausted rate limit is reset, and a little longer", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      const starts: Array<number> = []
      for (let round = 0; round < 5; round++) {
        yield* permits.pause(10_000)
        const { went } = yield* asking(permits, ["a"], undefined)
        starts.push(...went.map(([, at]) => at))
      }
      for (const at of starts) {
        assert.isAtLeast(at, 10_000)
        assert.isAtMost(at, 11_000)
      }
      assert.isAbove(new Set(starts).size, 1)
    }).pipe(Effect.scoped)
  )

  it.effect("a pause that comes while others wait holds them too", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      yield* take(permits, request("a", { rps: 1 }))
      const waiting = Effect.andThen(take(permits, request("b", { rps: 1 })), Clock.currentTimeMillis)
      const fibers = [
        yield* Effect.forkChild(waiting, { startImmediately: true }),
        yield* Effect.forkChild(waiting, { startImmediately: true })
      ]
      assert.strictEqual(permits.waiting(), 2)
      yield* TestClock.adjust("500 millis")
      yield* pause(permits, 10_000)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), [10_500, 11_500])
    }).pipe(Effect.scoped)
  )

  it.effect("a pause longer than the wait fails immediately; a queue that is too long, after the wait", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      yield* pause(permits, 90_000)
      const paused = yield* take(permits, request("a", { maxWaitMillis: 60_000 }))
      assert.deepStrictEqual(paused, { _tag: "Later", retryAfterMillis: 90_000 })
      yield* TestClock.adjust("90 seconds")
      const { answers } = yield* asking(permits, ["a", "b", "c", "d"], 0.1, 25_000)
      assert.deepStrictEqual(
        answers.map(({ _tag }) => _tag),
        ["Granted", "Granted", "Granted", "Later"]
      )
      assert.strictEqual(permits.waiting(), 0)
    }).pipe(Effect.scoped)
  )

  it.effect("who gives up leaves the queue to the others", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      yield* take(permits, request("first", { rps: 1 }))
      const leaving = yield* Effect.forkChild(take(permits, request("leaving", { rps: 1 })), {
        startImmediately: true
      })
      const staying = yield* Effect.forkChild(asking(permits, ["staying"], 1))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(leaving)
      assert.deepStrictEqual((yield* Fiber.join(staying)).went, [["staying", 1000]])
    }).pipe(Effect.scoped)
  )

  it.effect("a wish for a day's pause holds a quarter of an hour", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      yield* pause(permits, 24 * hour)
      assert.deepStrictEqual(yield* take(permits, request("a", { maxWaitMillis: 1 })), {
        _tag: "Later",
        retryAfterMillis: 900_000
      })
    }).pipe(Effect.scoped)
  )

  it.effect("as many calls at the same time as the provider takes, the next one after a release", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      const ids = yield* Effect.replicateEffect(Effect.flatMap(take(permits, request("a")), idOf), 8)
      assert.strictEqual(permits.held(), 8)
      const ninth = yield* Effect.forkChild(take(permits, request("b")), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(permits.waiting(), 1)
      yield* permits.release(ids[0] ?? "", { kind: "failed" })
      assert.strictEqual((yield* Fiber.join(ninth))._tag, "Granted")
    }).pipe(Effect.scoped)
  )

  it.effect("while everything is refused, nothing starts for a time that doubles, up to half a minute", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      const pauses: Array<number> = []
      for (let at = 0; at < 12; at++) {
        const began = yield* Clock.currentTimeMillis
        const next = yield* Effect.forkChild(
          Effect.flatMap(take(permits, request("a")), (permit) =>
            Effect.map(Clock.currentTimeMillis, (now) => ({ permit, now }))
          ),
          { startImmediately: true }
        )
        yield* TestClock.adjust("1 minute")
        const { now, permit } = yield* Fiber.join(next)
        pauses.push(now - began)
        yield* permits.release(yield* idOf(permit), { kind: "throttled" })
      }
      const bounds = [0, 1_000, 2_000, 4_000, 8_000, 16_000, ...Array.from({ length: 6 }, () => 30_000)]
      for (const [at, bound] of bounds.entries()) {
        assert.isAtMost(pauses[at] ?? Number.NaN, bound)
        assert.isAtLeast(pauses[at] ?? Number.NaN, bound / 2)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("after a refusal half as many calls are executed, and no pause is made while others are", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      const ids = yield* Effect.replicateEffect(Effect.flatMap(take(permits, request("a")), idOf), 8)
      for (const id of ids.slice(0, 5)) yield* permits.release(id, { kind: "throttled" })
      assert.strictEqual((yield* take(permits, request("a", { maxWaitMillis: 1 })))._tag, "Granted")
      const fifth = yield* Effect.forkChild(take(permits, request("a")), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(permits.waiting(), 1)
      yield* Fiber.interrupt(fifth)
    }).pipe(Effect.scoped)
  )

  it.effect("every second permit goes to the run that expects the fewest calls", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      const order: Array<string> = []
      const runs = ["long", "long", "long", "middle", "short", "short", "short"]
      const expected: Record<string, number> = { long: 40, middle: 10, short: 1 }
      yield* take(permits, request("first", { rps: 1 }))
      yield* Effect.forkChild(
        Effect.forEach(
          runs,
          (run) =>
            Effect.andThen(
              take(permits, request(run, { rps: 1, expectedCalls: expected[run] ?? 0 })),
              Effect.sync(() => order.push(run))
            ),
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(order, ["long", "short", "middle", "short", "long", "short", "long"])
    }).pipe(Effect.scoped)
  )

  it.effect("a permit that its node does not renew expires; one that it renews stays, also where it is unknown", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      const ids = yield* Effect.replicateEffect(Effect.flatMap(take(permits, request("a")), idOf), 8)
      yield* TestClock.adjust("40 seconds")
      yield* permits.renew([...ids.slice(0, 2), "granted by an actor that moved"])
      const ninth = yield* Effect.forkChild(take(permits, request("b")), { startImmediately: true })
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(ninth))._tag, "Granted")
      assert.strictEqual(permits.held(), 4)
    }).pipe(Effect.scoped)
  )

  it.effect("a release ends a permit that is still waited for", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      const ids = yield* Effect.replicateEffect(Effect.flatMap(take(permits, request("a")), idOf), 8)
      const waiting = yield* Effect.forkChild(permits.acquire("waiting", request("b", { maxWaitMillis: 30_000 })), {
        startImmediately: true
      })
      yield* permits.release("waiting", { kind: "failed" })
      assert.strictEqual(permits.waiting(), 0)
      yield* permits.release(ids[0] ?? "", { kind: "failed" })
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "Later")
      assert.strictEqual(permits.held(), 7)
    }).pipe(Effect.scoped)
  )

  it.effect("a permit that is granted at the moment of the timeout is reported as granted", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      yield* take(permits, request("a", { rps: 1 }))
      const second = yield* Effect.forkChild(take(permits, request("b", { rps: 1, maxWaitMillis: 1000 })), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 second")
      const permit = yield* Fiber.join(second)
      assert.strictEqual(permits.held(), permit._tag === "Granted" ? 2 : 1)
    }).pipe(Effect.scoped)
  )

  it.effect("show their state, and resume ends a pause for those that wait", () =>
    Effect.gen(function* () {
      const permits = yield* makeProviderPermits
      const held = yield* take(permits, request("one"))
      yield* permits.release(yield* idOf(held), { kind: "throttled", retryAfterMillis: 600_000, error: "rate_limited" })
      const waiting = yield* Effect.forkChild(take(permits, request("two")))
      yield* TestClock.adjust("1 minute")
      const paused = yield* permits.state
      assert.deepStrictEqual(
        [paused.pause?.cause, paused.pause?.until, paused.waiting, paused.held, paused.errors],
        ["requested", 600_000, 1, 0, { rate_limited: 1 }]
      )
      assert.isUndefined(waiting.pollUnsafe())
      yield* permits.resume
      yield* TestClock.adjust("1 second")
      yield* permits.release(yield* idOf(yield* Fiber.join(waiting)), { kind: "answered", tokens: 500 })
      const { pause: after, responses, tokensPerMinute } = yield* permits.state
      assert.deepStrictEqual([after, responses, tokensPerMinute], [undefined, 1, 100])
    }).pipe(Effect.scoped)
  )
})
