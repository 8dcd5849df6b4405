/** Rate limits that providers report with their responses: which of them mean a wait, and for how long. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { Budget } from "../../../src/llm/Budget.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { layerMemory } from "../../../src/llm/catalog/MemoryCatalogCache.ts"
import { Evidence } from "../../../src/llm/Evidence.ts"
import { classify } from "../../../src/llm/calls/Failure.ts"
import { Gateway } from "../../../src/llm/Gateway.ts"
import * as GatewayLayer from "../../../src/llm/GatewayLayer.ts"
import { Limiter } from "../../../src/llm/Limiter.ts"
import { exhaustedMillis } from "../../../src/llm/calls/RateLimitHeaders.ts"
import { APICallError } from "ai"
import { startFakeModel } from "../../harness/FakeModel.ts"
import { owned } from "../../harness/Owners.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { documentFor, env, protocols, publicKey } from "../Protocols.ts"

const now = Date.parse("2026-01-02T03:04:05Z")
const openai = (reset: string, remaining = "0") => ({
  "x-ratelimit-limit-requests": "60",
  "x-ratelimit-remaining-requests": remaining,
  "x-ratelimit-reset-requests": reset
})

describe("exhausted rate limits", () => {
  it.each<readonly [string, Readonly<Record<string, string>>, number | undefined]>([
    ["OpenAI, seconds", openai("1s"), 1000],
    ["OpenAI, minutes", openai("6m0s"), 360_000],
    ["OpenAI, milliseconds", openai("120ms"), 120],
    ["OpenAI, hours and fractions", openai("1h2m3.5s"), 3_723_500],
    ["Azure, a number of seconds", openai("7"), 7000],
    ["one request remaining", openai("6m0s", "1"), undefined],
    ["an unreadable reset", openai("soon"), undefined],
    ["an unreadable remainder", openai("1s", "none"), undefined],
    ["a negative reset", openai("-5"), undefined],
    ["a duration with a rest", openai("5s later"), undefined],
    ["a remainder without a reset", { "x-ratelimit-remaining-requests": "0" }, undefined],
    [
      "the longest of several limits",
      { ...openai("2s"), "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m1s" },
      61_000
    ],
    [
      "only limits that are exhausted",
      { ...openai("2s"), "x-ratelimit-remaining-tokens": "5", "x-ratelimit-reset-tokens": "1m1s" },
      2000
    ],
    [
      "Anthropic, RFC 3339",
      { "anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-01-02T03:04:35Z" },
      30_000
    ],
    [
      "Anthropic, input tokens, with an offset",
      {
        "anthropic-ratelimit-input-tokens-remaining": "0",
        "anthropic-ratelimit-input-tokens-reset": "2026-01-02T04:04:15+01:00"
      },
      10_000
    ],
    [
      "Anthropic, a reset in the past",
      { "anthropic-ratelimit-requests-remaining": "0", "anthropic-ratelimit-requests-reset": "2026-01-02T03:00:00Z" },
      0
    ],
    ["seconds since the epoch", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(now / 1000 + 12) }, 12_000],
    ["milliseconds since the epoch", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(now + 1500) }, 1500],
    ["an HTTP date", { "ratelimit-remaining": "0", "ratelimit-reset": "Fri, 02 Jan 2026 03:04:09 GMT" }, 4000],
    [
      "limits of a day",
      { "x-ratelimit-remaining-requests-day": "0", "x-ratelimit-reset-requests-day": "33.5" },
      33_500
    ],
    ["never more than a day", openai("900h"), 86_400_000],
    ["no headers", {}, undefined]
  ])("%s", (_, headers, expected) => {
    assert.strictEqual(exhaustedMillis(headers, now), expected)
  })

  it.each<readonly [string, Readonly<Record<string, string>>, number | undefined]>([
    ["until the reset", openai("6m0s"), 360_000],
    ["as long as Retry-After demands, if present", { ...openai("6m0s"), "retry-after": "3" }, 3000],
    ["without a limit that is exhausted, by its own rule", openai("6m0s", "4"), undefined]
  ])("a refused request waits %s", (_, responseHeaders, expected) => {
    const error = new APICallError({
      message: "slow down",
      url: "https://x/",
      requestBodyValues: {},
      statusCode: 429,
      responseHeaders
    })
    assert.strictEqual(classify(error, [], now).retryAfterMillis, expected)
  })
})

/** A limiter that grants every permit and collects the pauses. */
const collecting = (pauses: Array<readonly [string, number]>) =>
  Layer.succeed(
    Limiter,
    Limiter.of({
      withPermit: (_, _request, use) => Effect.map(use, (value) => ({ _tag: "Ended", value })),
      pause: (provider, millis) => Effect.sync(() => void pauses.push([provider, millis]))
    })
  )

describe.each(protocols)("a response of $name", (protocol) => {
  const call = (headers: Readonly<Record<string, string>>, retry: Readonly<Record<string, unknown>> = {}) =>
    Effect.gen(function* () {
      const fake = yield* Effect.acquireRelease(
        Effect.promise(() => startFakeModel({ text: "hello", headers }, { publicKey })),
        (started) => Effect.promise(() => started.close())
      )
      const pauses: Array<readonly [string, number]> = []
      const gateway = GatewayLayer.layer.pipe(
        Layer.provide([
          collecting(pauses),
          Budget.layerMemory,
          Evidence.layerNone,
          Catalog.layer.pipe(Layer.provide(layerMemory))
        ])
      )
      yield* Gateway.use((one) =>
        one.call({
          snapshot: testSnapshot(documentFor(protocol, fake.url, { llm: { retry } }), env),
          group: "default",
          role: "any",
          system: "",
          messages: [{ role: "user", text: "hi" }],
          tools: [],
          deadlineMillis: 20_000
        })
      ).pipe(Effect.provide([gateway, Logger.layer([])]))
      return pauses
    }).pipe(Effect.scoped, owned)

  it.live("that reports an exhausted limit pauses its provider, unless the configuration ignores such wishes", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* call(openai("6m0s")), [["p", 360_000]])
      assert.deepStrictEqual(yield* call(openai("6m0s", "3")), [])
      assert.deepStrictEqual(yield* call(openai("6m0s"), { respect_retry_after: false }), [])
    })
  )
})
