/** Passes of a review wait for the first one to begin. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Brief } from "../../../src/agent/Agent.ts"
import { inCacheOrder } from "../../../src/engine/plan/CacheOrder.ts"
import { testSnapshot, testWorkspace } from "../../harness/TestSnapshot.ts"
import { fakeCheckout, fakeCode } from "../../agent/FakeCheckout.ts"

const brief: Brief = {
  snapshot: testSnapshot({}),
  workspace: testWorkspace(),
  system: "You review.",
  prompt: "the diff",
  checkout: fakeCheckout({}),
  code: fakeCode
}
const passes = (count: number) =>
  inCacheOrder(Array.from({ length: count }, () => ({ parts: [], isBlind: false, brief: Effect.succeed(brief) })))

describe("the passes of a review", () => {
  it.effect("wait until the first of them begins", () =>
    Effect.gen(function* () {
      const [first, ...others] = passes(3)
      const waiting = yield* Effect.forkChild(Effect.all(others.map((pass) => pass.brief)))
      const { onBegin } = yield* first?.brief ?? Effect.die("no pass")
      yield* TestClock.adjust("1 second")
      assert.isUndefined(waiting.pollUnsafe())
      yield* onBegin ?? Effect.die("nothing notifies the others")
      assert.deepStrictEqual(
        (yield* Fiber.join(waiting)).map((one) => one.onBegin),
        [undefined, undefined]
      )
    })
  )

  it.effect("do not wait where the cache would save little", () =>
    Effect.gen(function* () {
      const briefs = yield* Effect.all(passes(2).map((pass) => pass.brief))
      assert.deepStrictEqual(briefs, [brief, brief])
    })
  )
})
