/** A model whose responses end at their limit of output tokens: what is complete in them is kept, and the reader learns of it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Agent } from "../../../src/agent/Agent.ts"
import { nativeAgentLayer } from "../../../src/agent/AgentLayer.ts"
import { gatewayLayer } from "../../../src/llm/GatewayLayer.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import type { Script } from "../../harness/FakeModel.ts"
import { testOwners } from "../../harness/Owners.ts"
import { testSnapshot, testWorkspace } from "../../harness/TestSnapshot.ts"
import { fakeCheckout, fakeCode } from "../FakeCheckout.ts"

const fakeModel = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script)),
    (fake) => Effect.promise(() => fake.close())
  )

const analyse = (url: string) =>
  Agent.use((agent) =>
    agent.analyse({
      snapshot: testSnapshot({
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: `${url}/v1` }],
          model_chain: { default: [{ provider: "p", model: "m" }] }
        }
      }),
      workspace: testWorkspace(),
      system: "You review.",
      prompt: "the diff",
      checkout: fakeCheckout({}),
      code: fakeCode
    })
  ).pipe(Effect.provide([nativeAgentLayer.pipe(Layer.provide(gatewayLayer)), Logger.layer([]), testOwners]))

const report = (message: string) => ({
  name: "report_problem",
  input: { file: "a.ts", line: 1, severity: "high", category: "bug", message, quote: message }
})
const invalid = { name: "report_problem", input: '{"file":"a.ts","mess' }
const summary = { name: "publish_summary", input: { markdown: "Reviewed." } }

describe("a response that was cut", () => {
  it.live("once is continued by the same model, and its end is not an invalid report", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel([
        { calls: [report("one"), invalid], cutOff: true },
        { calls: [report("two"), summary] }
      ])
      const found = yield* analyse(fake.url)
      assert.deepStrictEqual(
        found.problems.map(({ message }) => message),
        ["one", "two"]
      )
      assert.strictEqual(found.summary, "Reviewed.")
      assert.include(fake.requests[1]?.text ?? "", "cut at its limit of output tokens")
      assert.isUndefined(found.stopped)
      assert.isUndefined(found.isCutOff)
    }).pipe(Effect.scoped)
  )

  it.live("twice ends the pass, which keeps its reports and is named as cut", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel([
        { calls: [report("one")], cutOff: true },
        { calls: [report("two")], cutOff: true }
      ])
      const found = yield* analyse(fake.url)
      assert.strictEqual(found.problems.length, 2)
      assert.isTrue(found.isCutOff)
      assert.deepStrictEqual(found.stopped, { _tag: "ResponsesCut" })
      assert.deepInclude(found.notices, { _tag: "ResponsesCut" })
      assert.strictEqual(fake.requests.length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("after its summary is complete", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ calls: [report("one"), summary], cutOff: true })
      const found = yield* analyse(fake.url)
      assert.strictEqual(found.summary, "Reviewed.")
      assert.isUndefined(found.isCutOff)
      assert.strictEqual(fake.requests.length, 1)
    }).pipe(Effect.scoped)
  )
})
