/** Conversations with the same prompt: what the later ones wait for. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { AgentReport, Brief } from "../../src/agent/Agent.ts"
import { withSecondPass } from "../../src/agent/native/SecondPass.ts"
import { sharedPrompt } from "../../src/agent/SharedPrompt.ts"
import { noUsage } from "../../src/domain/Analysis.ts"
import { testSnapshot, testWorkspace } from "../harness/TestSnapshot.ts"
import { fakeCheckout, fakeCode } from "./FakeCheckout.ts"

const report: AgentReport = {
  problems: [],
  summary: "A",
  skipped: undefined,
  models: [],
  usage: noUsage,
  notices: []
}
const brief: Brief = {
  snapshot: testSnapshot({}),
  workspace: testWorkspace(),
  system: "You review.",
  prompt: "the diff",
  secondPass: true,
  checkout: fakeCheckout({}),
  code: fakeCode
}

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

  it.effect("lets a second pass begin after the first one, whose beginning its caller sees as well", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const note = (event: string) => Effect.sync(() => void order.push(event))
      const analyse = withSecondPass(({ onBegin, prompt }) =>
        Effect.gen(function* () {
          if (prompt !== brief.prompt) return yield* Effect.as(note("second"), report)
          yield* Effect.sleep("1 second")
          yield* note("first begins")
          yield* onBegin ?? Effect.void
          return yield* Effect.as(Effect.sleep("1 second"), report)
        })
      )
      const analysing = yield* Effect.forkChild(analyse({ ...brief, onBegin: note("seen") }))
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(analysing)
      assert.deepStrictEqual(order.toSorted(), ["first begins", "second", "seen"])
      assert.strictEqual(order[0], "first begins")
    })
  )

  it.effect("lets a second pass begin where the first one ends without a beginning", () =>
    Effect.gen(function* () {
      const result = yield* withSecondPass(() => Effect.succeed(report))(brief)
      assert.strictEqual(result.summary, "A")
    })
  )
})
