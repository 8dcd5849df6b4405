/** A review whose money runs out keeps its findings, reports what it did not read, and fails when it has no result. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { inEnglish } from "../../src/text/en.ts"
import { Agent } from "../../src/agent/Agent.ts"
import { nativeAgentLayer } from "../../src/agent/AgentLayer.ts"
import { gatewayLayer } from "../../src/llm/GatewayLayer.ts"
import { startFakeModel } from "../harness/FakeModel.ts"
import type { Script } from "../harness/FakeModel.ts"
import { testSnapshot, testWorkspace } from "../harness/TestSnapshot.ts"
import { fakeCheckout, fakeCode } from "./FakeCheckout.ts"
import { testOwners } from "../harness/Owners.ts"

const fakeModel = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script)),
    (fake) => Effect.promise(() => fake.close())
  )

/** One call of 1000 tokens in and 1000 out costs 20 cents at 100 dollars a million. */
const analyse = (url: string, per_run_usd: number) =>
  Agent.use((agent) =>
    agent.analyse({
      snapshot: testSnapshot({
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: `${url}/v1`, max_output_tokens: 1000 }],
          model_chain: { default: [{ provider: "p", model: "m" }] },
          budget: { per_run_usd },
          model_catalog: { overrides: { "p/m": { cost: { input: 100, output: 100 } } } }
        }
      }),
      workspace: testWorkspace(),
      system: "You review.",
      prompt: "the diff",
      checkout: fakeCheckout({}),
      code: fakeCode
    })
  ).pipe(Effect.provide([nativeAgentLayer.pipe(Layer.provide(gatewayLayer)), Logger.layer([]), testOwners]))

const problem = {
  name: "report_problem",
  input: { file: "a.ts", line: 1, severity: "high", category: "bug", message: "it breaks", quote: "x" }
}

describe("out of budget", () => {
  it.live("problems reported before the cap are kept, with a notice", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ calls: [problem], usage: { input: 1000, output: 1000, cached: 0 } })
      const report = yield* analyse(fake.url, 0.3)
      assert.strictEqual(fake.requests.length, 1)
      assert.strictEqual(report.problems.length, 1)
      assert.match(
        report.stopped === undefined ? "" : inEnglish(report.stopped),
        /the budget is used up: 0\.20 of 0\.30 US dollars of llm\.budget\.per_run_usd/
      )
      assert.deepStrictEqual(report.notices.map(inEnglish), [
        "the review ended early: the budget for model calls (llm.budget) is exhausted"
      ])
      assert.closeTo(report.usage.costUsd ?? 0, 0.2, 1e-9)
    }).pipe(Effect.scoped)
  )

  it.live("a cap that allows no call is reported, and costs nothing", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ calls: [problem] })
      const report = yield* analyse(fake.url, 0.01)
      assert.strictEqual(fake.requests.length, 0)
      assert.strictEqual(report.usage.requests, 0)
      assert.isDefined(report.stopped)
    }).pipe(Effect.scoped)
  )
})
