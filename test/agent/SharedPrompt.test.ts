/** Conversations with the same prompt: what the later ones wait for. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { sharedPrompt } from "../../src/agent/SharedPrompt.ts"

describe("a shared prompt", () => {
  it.effect("is waited for until the first response begins", () =>
    Effect.gen(function* () {
      const { begin, begun } = sharedPrompt()
      const waiting = yield* Effect.forkChild(begun)
      yield* TestClock.adjust("2 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* begin
      yield* Fiber.join(waiting)
    })
  )

  it.effect("is not waited for while a model thinks", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(sharedPrompt().begun)
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(waiting)
    })
  )
})
