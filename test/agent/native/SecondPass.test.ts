/** Two independent conversations about one brief, and how their reports are combined. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Agent } from "../../../src/agent/Agent.ts"
import { nativeAgentLayer } from "../../../src/agent/AgentLayer.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { faults, startFakeModel } from "../../harness/FakeModel.ts"
import type { Script } from "../../harness/FakeModel.ts"
import { testOwners } from "../../harness/Owners.ts"
import { testSnapshot, testWorkspace } from "../../harness/TestSnapshot.ts"
import { fakeCheckout, fakeCode } from "../FakeCheckout.ts"

const analyse = (script: Script, secondPass: boolean, maySkip = false) =>
  Effect.gen(function* () {
    const fake = yield* Effect.acquireRelease(
      Effect.promise(() => startFakeModel(script)),
      ({ close }) => Effect.promise(() => close())
    )
    const report = yield* Agent.use((agent) =>
      agent.analyse({
        snapshot: testSnapshot({
          llm: {
            providers: [{ id: "p", kind: "openai_compatible", base_url: `${fake.url}/v1` }],
            model_chain: { default: [{ provider: "p", model: "m" }] },
            retry: { max_attempts: 1 }
          }
        }),
        workspace: testWorkspace(),
        system: "You review.",
        prompt: "the diff",
        secondPass,
        maySkip,
        checkout: fakeCheckout({}),
        code: fakeCode
      })
    )
    return { report, requests: fake.requests.map(({ text }) => text) }
  }).pipe(
    Effect.scoped,
    Effect.provide([nativeAgentLayer.pipe(Layer.provide(gatewayLayer)), Logger.layer([]), testOwners])
  )

const isSecond = (text: string): boolean => text.includes("independent second review")
const problem = (message: string) => ({
  name: "report_problem",
  input: { file: "a.ts", severity: "high", category: "bug", message, quote: "x" }
})
const summary = (markdown: string) => ({ name: "publish_summary", input: { markdown } })

describe("a second pass", () => {
  it.live("adds its problems, without its summary", () =>
    Effect.gen(function* () {
      const { report, requests } = yield* analyse(
        ({ text }) => ({
          calls: isSecond(text) ? [problem("two"), summary("B")] : [problem("one"), summary("A")]
        }),
        true
      )
      assert.deepStrictEqual(
        report.problems.map(({ message }) => message),
        ["one", "two"]
      )
      assert.strictEqual(report.summary, "A")
      assert.strictEqual(report.usage.requests, 2)
      assert.strictEqual(requests.filter(isSecond).length, 1)
    })
  )

  it.live("with a problem turns a skipped change into a review", () =>
    Effect.gen(function* () {
      const skip = { name: "skip", input: { reason: "nothing" } }
      const found = yield* analyse(
        ({ text }) => ({ calls: isSecond(text) ? [problem("two"), summary("B")] : [skip] }),
        true,
        true
      )
      assert.strictEqual(found.report.skipped, undefined)
      const both = yield* analyse({ calls: [skip] }, true, true)
      assert.strictEqual(both.report.skipped, "nothing")
    })
  )

  it.live("that fails costs only its problems, and is counted", () =>
    Effect.gen(function* () {
      const { report } = yield* analyse(
        ({ text }) => (isSecond(text) ? faults.serverError : { calls: [problem("one"), summary("A")] }),
        true
      )
      assert.strictEqual(report.problems.length, 1)
      assert.deepStrictEqual(report.unusable, [{ reason: "second_reading", count: 1 }])
    })
  )

  it.live("loses a report, and both readings together are not clean", () =>
    Effect.gen(function* () {
      const lost = { name: "report_problem", input: { file: "a.ts", message: "three" } }
      const { report } = yield* analyse(
        ({ text }) => ({ calls: isSecond(text) ? [lost, summary("B")] : [summary("A")] }),
        true
      )
      assert.deepStrictEqual(report.unusable, [{ reason: "report", count: 1 }])
    })
  )

  it.live("is not made where it is not requested", () =>
    Effect.gen(function* () {
      const { requests } = yield* analyse({ calls: [summary("A")] }, false)
      assert.strictEqual(requests.length, 1)
    })
  )
})
