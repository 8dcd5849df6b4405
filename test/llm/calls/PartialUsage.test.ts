/** Usage of calls that are aborted: what each wire format reports before its end, and what is charged for it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import type { Usd } from "../../../src/domain/Money.ts"
import { Budget } from "../../../src/llm/Budget.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { layerMemory } from "../../../src/llm/catalog/MemoryCatalogCache.ts"
import { Evidence } from "../../../src/llm/Evidence.ts"
import type { RecordedCall } from "../../../src/llm/Evidence.ts"
import { Gateway } from "../../../src/llm/Gateway.ts"
import * as GatewayLayer from "../../../src/llm/GatewayLayer.ts"
import { Limiter } from "../../../src/llm/Limiter.ts"
import { readPartialUsage } from "../../../src/llm/calls/PartialUsage.ts"
import type { PartialUsage } from "../../../src/llm/calls/PartialUsage.ts"
import { startFakeModel } from "../../harness/FakeModel.ts"
import { owned } from "../../harness/Owners.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { documentFor, env, protocols, publicKey } from "../Protocols.ts"

describe("usage before the end of a response", () => {
  it.each<readonly [string, unknown, PartialUsage | undefined]>([
    [
      "Anthropic, the input",
      {
        type: "message_start",
        message: {
          usage: { input_tokens: 10, cache_read_input_tokens: 400, cache_creation_input_tokens: 50, output_tokens: 1 }
        }
      },
      { inputTokens: 460, cachedTokens: 400, cacheWriteTokens: 50 }
    ],
    [
      "Anthropic without a cache",
      { type: "message_start", message: { usage: { input_tokens: 10, cache_read_input_tokens: null } } },
      { inputTokens: 10, cachedTokens: 0, cacheWriteTokens: 0 }
    ],
    ["Anthropic, the output", { type: "message_delta", usage: { output_tokens: 7 } }, { outputTokens: 7 }],
    [
      "Gemini",
      {
        candidates: [],
        usageMetadata: {
          promptTokenCount: 100,
          cachedContentTokenCount: 60,
          candidatesTokenCount: 5,
          thoughtsTokenCount: 3
        }
      },
      { inputTokens: 100, cachedTokens: 60, outputTokens: 8 }
    ],
    [
      "chat completions",
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } } },
      { inputTokens: 9, cachedTokens: 4, outputTokens: 2 }
    ],
    ["chat completions without usage", { choices: [], usage: null }, undefined],
    ["Responses", { type: "response.output_text.delta", delta: "x" }, undefined],
    ["Bedrock", { contentBlockDelta: { delta: { text: "x" } } }, undefined],
    ["text", "data", undefined],
    ["nothing", undefined, undefined]
  ])("%s", (_, piece, expected) => {
    assert.deepStrictEqual(readPartialUsage(piece), expected)
  })
})

/** Number of events until the first half of the text, per wire format. */
const eventsOfHalf = (path: string): number =>
  path.includes("completions") ? 2 : path.includes("converse") ? 2 : path.includes("enerateContent") ? 1 : 4

describe.each(protocols)("a call of $name that is aborted within its response", (protocol) => {
  it.live("is charged with the reported usage, else with an estimate of what arrived", () =>
    Effect.gen(function* () {
      const half = eventsOfHalf(protocol.path)
      const text = "hello world!".repeat(10)
      const fake = yield* Effect.acquireRelease(
        Effect.promise(() =>
          startFakeModel(
            {
              text,
              usage: { input: 1_000_000, output: 500, cached: 400_000 },
              pace: (at) => (at < half ? Promise.resolve() : new Promise(() => {}))
            },
            { publicKey }
          )
        ),
        (started) => Effect.promise(() => started.close())
      )
      const settled: Array<Usd> = []
      const outcomes: Array<RecordedCall["outcome"]> = []
      const gateway = GatewayLayer.layer.pipe(
        Layer.provide([
          Limiter.layerMemory,
          Layer.succeed(
            Budget,
            Budget.of({
              reserve: () => Effect.succeed({ _tag: "Reserved" }),
              settle: (_, usd) => Effect.sync(() => void settled.push(usd)),
              refund: () => Effect.die("money was spent")
            })
          ),
          Layer.mock(Evidence, { record: ({ outcome }) => Effect.sync(() => void outcomes.push(outcome)) }),
          Catalog.layer.pipe(Layer.provide(layerMemory))
        ])
      )
      const name = `p/${protocol.model ?? "m"}`
      const overrides = { [name]: { cost: { input: 2, output: 10, cache_read: 0.5 } } }
      const document = documentFor(protocol, fake.url, {
        llm: { model_catalog: { overrides }, retry: { max_attempts: 1 } },
        provider: { timeout_ms: 200 }
      })
      const system = "s".repeat(2_997)
      const error = yield* Gateway.use((one) =>
        one.call({
          snapshot: testSnapshot(document, env),
          group: "default",
          role: "any",
          system,
          messages: [{ role: "user", text: "hey" }],
          tools: [],
          deadlineMillis: 20_000
        })
      ).pipe(Effect.flip, Effect.provide([gateway, Logger.layer([])]))
      assert.strictEqual(error.reason, "timeout")
      const [outcome] = outcomes
      const usage = outcome?._tag === "Failed" ? outcome.usage : undefined
      const isReported = /enerateContent|messages|awPredict/.test(protocol.path)
      assert.deepStrictEqual(
        [usage?.inputTokens, usage?.cachedTokens, usage?.outputTokens],
        isReported ? [1_000_000, 400_000, text.length / 2 / 3] : [1_000, 0, text.length / 2 / 3]
      )
      const expected = (isReported ? 0.6 * 2 + 0.4 * 0.5 : 0.001 * 2) + 0.000_02 * 10
      assert.lengthOf(settled, 1)
      assert.approximately(settled[0] ?? 0, expected, 1e-9)
    }).pipe(Effect.scoped, owned)
  )
})
