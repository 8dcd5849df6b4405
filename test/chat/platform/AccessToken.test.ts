/** The token of an application: fetched once for all who wait, early enough, and again after a refusal. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { makeAccessToken } from "../../../src/chat/platform/AccessToken.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"

const hour = 60 * 60_000
const refused = new ForgeError({ reason: "unauthorized", operation: "call", why: verbatimReason("token expired") })

/** A platform that makes a token per fetch, `t1`, `t2` and so on, which takes a second. */
const make = () => {
  const world = { fetches: 0, fails: false }
  const fetchToken = Effect.gen(function* () {
    world.fetches += 1
    const token = `t${world.fetches}`
    yield* Effect.sleep("1 second")
    if (world.fails)
      return yield* new ForgeError({ reason: "unavailable", operation: "token", why: verbatimReason("down") })
    return { token: Redacted.make(token), lifetimeMillis: 2 * hour }
  })
  const { use } = makeAccessToken(fetchToken, hour / 2)
  return { use, world }
}

const withTime = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.all([effect, TestClock.adjust("5 seconds")], { concurrency: 2 }), ([value]) => value)

describe("access tokens", () => {
  it.effect("are fetched once for all callers, and again before they end", () =>
    Effect.gen(function* () {
      const { use, world } = make()
      const all = Effect.all(
        Array.from({ length: 20 }, () => use(Effect.succeed)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(new Set(yield* withTime(all)), new Set(["t1"]))
      yield* TestClock.adjust("80 minutes")
      assert.strictEqual(yield* use(Effect.succeed), "t1")
      yield* TestClock.adjust("20 minutes")
      assert.strictEqual(yield* withTime(use(Effect.succeed)), "t2")
      assert.strictEqual(world.fetches, 2)
    })
  )

  it.effect("that the platform refuses are replaced once, and a second refusal is the result", () =>
    Effect.gen(function* () {
      const { use, world } = make()
      const call = (token: string) => (token === "t1" ? Effect.fail(refused) : Effect.succeed(token))
      const all = Effect.all([use(call), use(call), use(call)], { concurrency: 3 })
      assert.deepStrictEqual(yield* withTime(all), ["t2", "t2", "t2"])
      assert.strictEqual(world.fetches, 2)
      const never = yield* withTime(Effect.exit(use(() => Effect.fail(refused))))
      assert.strictEqual(never._tag, "Failure")
      assert.strictEqual(world.fetches, 3)
    })
  )

  it.effect("that cannot be fetched are fetched again by the next call", () =>
    Effect.gen(function* () {
      const { use, world } = make()
      world.fails = true
      assert.strictEqual((yield* withTime(Effect.exit(use(Effect.succeed))))._tag, "Failure")
      world.fails = false
      assert.strictEqual(yield* withTime(use(Effect.succeed)), "t2")
    })
  )
})
