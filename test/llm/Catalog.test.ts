/** The catalog over a real HTTP server and every backend: refresh, ETag, offline, overrides, and what happens without it. */
import { createServer } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Price } from "../../src/llm/catalog/ModelRecord.ts"
import { findBundled } from "../../src/llm/catalog/Bundled.ts"
import { Catalog } from "../../src/llm/Catalog.ts"
import { CatalogCache } from "../../src/llm/catalog/CatalogCache.ts"
import { catalogNames } from "../../src/llm/catalog/CatalogNames.ts"
import { parseEntries } from "../../src/llm/catalog/CatalogSource.ts"
import { layerMemory } from "../../src/llm/catalog/MemoryCatalogCache.ts"
import { layerRedis } from "../../src/llm/catalog/RedisCatalogCache.ts"
import { layerSql } from "../../src/llm/catalog/SqlCatalogCache.ts"
import { costUsd } from "../../src/llm/calls/Pricing.ts"
import { effortFor } from "../../src/llm/calls/Effort.ts"
import { databases } from "../store/Databases.ts"
import { RedisServer } from "../harness/Redis.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"

const decodePrice = Schema.decodeSync(Price)

const record = (context: number, input: number) => ({
  id: "m",
  tool_call: true,
  limit: { context, output: 5000 },
  cost: { input, output: 10 }
})

interface Source {
  readonly url: string
  readonly requests: Array<string | undefined>
  answer: (etag: string | undefined) => { status: number; body?: string; etag?: string }
}

const source = (document: unknown, etag = '"one"') =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const made: { -readonly [K in keyof Source]: Source[K] } = {
        url: "",
        requests: [],
        answer: (given) => (given === etag ? { status: 304 } : { status: 200, body: JSON.stringify(document), etag })
      }
      const server = createServer((request, response) => {
        made.requests.push(request.headers["if-none-match"])
        const { status, body, etag: tag } = made.answer(request.headers["if-none-match"])
        response.writeHead(status, tag === undefined ? {} : { etag: tag }).end(body)
      })
      await new Promise<void>((resolve) => {
        server.listen(0, "127.0.0.1", resolve)
      })
      const address = server.address()
      if (typeof address !== "object" || address === null) throw new Error("no address")
      made.url = `http://127.0.0.1:${address.port}/api.json`
      return { made, server }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  ).pipe(Effect.map(({ made }): Source => made))

const config = (url: string, catalog: Record<string, unknown> = {}, provider: Record<string, unknown> = {}) =>
  testSnapshot({
    llm: {
      providers: [{ id: "p", kind: "openai_compatible", base_url: "http://127.0.0.1:9/v1", ...provider }],
      model_catalog: { enabled: true, source_url: url, ...catalog }
    }
  }).document.llm

const spec = (llm: ReturnType<typeof config>, model = "m") =>
  Catalog.use((catalog) => {
    const [provider] = llm.providers
    return provider === undefined ? Effect.die("no provider") : catalog.spec(llm, provider, model)
  })

const redis = Layer.unwrap(
  Effect.gen(function* () {
    const server = yield* Effect.acquireRelease(
      Effect.promise(() => RedisServer.start()),
      (started) => Effect.promise(() => started[Symbol.asyncDispose]())
    )
    return layerRedis(Redacted.make(server.url))
  })
)

const backends: ReadonlyArray<readonly [string, Layer.Layer<CatalogCache, unknown>]> = [
  ["memory", layerMemory],
  ...databases.map(({ name, layer }) => [name, layerSql.pipe(Layer.provide(layer()))] as const),
  ["redis", redis]
]

const waiting = Catalog.layerWith({ waits: true })
const quiet = Logger.layer([])

describe.each(backends)("catalog in %s", (_, backend) => {
  const layers = Layer.provideMerge(waiting, Layer.fresh(backend))

  it.effect("fetches once per interval, sends the ETag, and drops removed models", () =>
    Effect.gen(function* () {
      const server = yield* source({ p: { models: { m: record(1000, 2), old: record(1, 1) } } })
      const llm = config(server.url)
      const first = yield* spec(llm)
      assert.strictEqual(first.contextWindow, 1000)
      assert.deepStrictEqual(first.price, decodePrice({ input: 2, output: 10 }))
      yield* spec(llm, "old")
      assert.deepStrictEqual(server.requests, [undefined])

      yield* TestClock.adjust("25 hours")
      yield* spec(llm)
      assert.deepStrictEqual(server.requests, [undefined, '"one"'])
      assert.strictEqual((yield* spec(llm)).contextWindow, 1000)

      server.answer = () => ({
        status: 200,
        body: JSON.stringify({ p: { models: { m: record(3000, 4) } } }),
        etag: '"two"'
      })
      yield* TestClock.adjust("25 hours")
      assert.strictEqual((yield* spec(llm)).contextWindow, 3000)
      assert.isUndefined((yield* spec(llm, "old")).contextWindow)
      assert.strictEqual(server.requests.length, 3)
    }).pipe(Effect.scoped, Effect.provide([layers, quiet]))
  )

  it.effect("a state outlives the process that fetched", () =>
    Effect.gen(function* () {
      const server = yield* source({ p: { models: { m: record(1000, 2) } } })
      const llm = config(server.url)
      const cache = yield* CatalogCache
      const again = waiting.pipe(Layer.provide(Layer.succeed(CatalogCache, cache)))
      yield* spec(llm).pipe(Effect.provide(again, { local: true }))
      const found = yield* spec(llm).pipe(Effect.provide(again, { local: true }))
      assert.strictEqual(found.contextWindow, 1000)
      assert.strictEqual(server.requests.length, 1)
    }).pipe(Effect.scoped, Effect.provide([Layer.fresh(backend), quiet]))
  )
})

describe("catalog", () => {
  const memory = Layer.provideMerge(waiting, Layer.fresh(layerMemory))

  it.live(
    "for a source that is silent, refuses or sends nonsense, uses the bundled snapshot and does not query again immediately",
    () =>
      Effect.gen(function* () {
        const server = yield* source({})
        const openai = { base_url: undefined, catalog_provider: "openai" }
        const llm = testSnapshot({
          llm: {
            providers: [{ id: "p", kind: "openai_compatible", catalog_provider: "openai" }],
            model_catalog: { enabled: true, source_url: server.url, fetch_timeout_ms: 200 }
          }
        }).document.llm
        assert.isUndefined(openai.base_url)
        for (const answer of [
          { status: 500 },
          { status: 200, body: "<html>" },
          { status: 200, body: "[]" },
          { status: 200, body: '{"p":{"models":{}}}' }
        ]) {
          server.answer = () => answer
          const found = yield* spec(llm, "gpt-4o").pipe(
            Effect.andThen(spec(llm, "gpt-4o")),
            Effect.provide(Layer.provideMerge(waiting, Layer.fresh(layerMemory)), { local: true })
          )
          assert.strictEqual(found.contextWindow, 128_000)
        }
        assert.strictEqual(server.requests.length, 4)
      }).pipe(Effect.scoped, Effect.provide(quiet))
  )

  it.live("a service responds without waiting for the network", () =>
    Effect.gen(function* () {
      const silent = createServer(() => {})
      yield* Effect.callback<void>((resume) => void silent.listen(0, "127.0.0.1", () => resume(Effect.void)))
      const address = silent.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      // Its test is over before this is.
      const never = { fetch_timeout_ms: 600_000 }
      const llm = config(`http://127.0.0.1:${port}/api.json`, never, { catalog_provider: "openai" })
      const found = yield* spec(llm, "gpt-4o")
      assert.strictEqual(found.contextWindow, 128_000)
      silent.close()
      silent.closeAllConnections()
    }).pipe(Effect.scoped, Effect.provide([Catalog.layer.pipe(Layer.provide(layerMemory)), quiet]))
  )

  it.effect("offline and disabled never use the network; disabled has overrides only", () =>
    Effect.gen(function* () {
      const server = yield* source({ p: { models: { m: record(1000, 2) } } })
      const provider = { catalog_provider: "openai" }
      const offline = yield* spec(config(server.url, { offline: true }, provider), "gpt-4o")
      assert.strictEqual(offline.contextWindow, 128_000)
      const overrides = { "openai/gpt-4o": { limit: { context: 7 } } }
      const disabled = yield* spec(config(server.url, { enabled: false, overrides }, provider), "gpt-4o")
      assert.strictEqual(disabled.contextWindow, 7)
      assert.isUndefined(disabled.price)
      assert.strictEqual(server.requests.length, 0)
    }).pipe(Effect.scoped, Effect.provide([memory, quiet]))
  )

  it.effect("settings beat overrides, overrides beat the catalog, figure by figure", () =>
    Effect.gen(function* () {
      const server = yield* source({ p: { models: { m: record(1000, 2) } } })
      const overrides = {
        "p/m": { cost: { output: 99 }, limit: { output: 6000 }, tool_call: false, default_reasoning_effort: "low" }
      }
      const found = yield* spec(config(server.url, { overrides }, { context_window: 555 }))
      assert.deepStrictEqual(found, {
        contextWindow: 555,
        maxOutputTokens: 6000,
        price: decodePrice({ input: 2, output: 99 }),
        supportedEfforts: undefined,
        defaultEffort: "low",
        toolCall: false
      })
      const priceOnly = yield* spec(config(server.url, { apply_to_model_spec: false }))
      assert.isUndefined(priceOnly.contextWindow)
      assert.strictEqual(priceOnly.price?.input, 2)
    }).pipe(Effect.scoped, Effect.provide([memory, quiet]))
  )

  it.effect("an odd field does not lose the others", () =>
    Effect.gen(function* () {
      const odd = { limit: { context: "much", output: 10 }, cost: { input: -1, output: 2 }, tool_call: "yes" }
      const server = yield* source({ p: { models: { m: odd } }, broken: null, other: { models: 7 } })
      const found = yield* spec(config(server.url))
      assert.strictEqual(found.maxOutputTokens, 10)
      assert.isUndefined(found.contextWindow)
      assert.isUndefined(found.price)
    }).pipe(Effect.scoped, Effect.provide([memory, quiet]))
  )

  it.each([
    [{ id: "p", kind: "anthropic" }, "m", ["anthropic/m", "p/m"]],
    [{ id: "p", kind: "openai_compatible" }, "m", ["openai/m", "p/m"]],
    [{ id: "p", kind: "openai_compatible", base_url: "https://api.x.ai/v1" }, "m", ["xai/m", "p/m"]],
    [{ id: "p", kind: "openai_compatible", base_url: "http://box/v1" }, "m", ["p/m"]],
    [
      { id: "p", kind: "bedrock" },
      "eu.anthropic.c",
      ["amazon-bedrock/eu.anthropic.c", "amazon-bedrock/anthropic.c", "p/eu.anthropic.c", "p/anthropic.c"]
    ],
    [{ id: "p", kind: "ollama", catalog_provider: "q" }, "m", ["q/m"]],
    [{ id: "p", kind: "ollama", catalog_provider: "q", catalog_id: "a/b" }, "m", ["a/b"]]
  ] satisfies ReadonlyArray<readonly [Parameters<typeof catalogNames>[0], string, ReadonlyArray<string>]>)(
    "%j %s",
    (provider, model, expected) => assert.deepStrictEqual(catalogNames(provider, model), expected)
  )

  it("the bundled snapshot has prices and windows", async () => {
    for (const id of ["anthropic/claude-sonnet-4-5", "openai/gpt-5", "google/gemini-2.5-pro"]) {
      const text = await findBundled(["absent/model", id])
      assert.isDefined(text)
      assert.match(text ?? "", /"limit":\{"context":\d+,"output":\d+\},"cost":\{"input":/)
    }
    assert.isUndefined(parseEntries({ p: { models: {} } }))
  })
})

describe("costUsd", () => {
  const price = decodePrice({
    input: 10,
    output: 100,
    cache_read: 1,
    cache_write: 20,
    reasoning: 50,
    context_over_200k: { input: 30, output: 300 }
  })
  it.each([
    ["fresh input and output", { inputTokens: 1_000_00, outputTokens: 10_000 }, 2],
    ["cached reads and writes", { inputTokens: 100_000, cachedTokens: 50_000, cacheWriteTokens: 50_000 }, 1.05],
    ["reasoning", { outputTokens: 20_000, reasoningTokens: 10_000 }, 1.5],
    ["a long prompt", { inputTokens: 300_000, outputTokens: 10_000 }, 12]
  ])("%s", (_, usage, expected) => {
    const none = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }
    assert.closeTo(costUsd(price, { ...none, ...usage }) ?? -1, expected, 1e-9)
    assert.isUndefined(costUsd(undefined, { ...none, ...usage }))
  })
})

describe("effortFor", () => {
  it.each([
    [{}, {}, undefined],
    [{ reasoning_effort: "max" }, {}, "max"],
    [{ reasoning_effort: "max" }, { supportedEfforts: ["low", "high"] }, "high"],
    [{ reasoning_effort: "minimal" }, { supportedEfforts: ["low", "high"] }, "low"],
    [{}, { defaultEffort: "medium" }, "medium"],
    [{ thinking_level: "off" }, { defaultEffort: "medium" }, undefined],
    [{ reasoning_effort: "low" }, { defaultEffort: "medium" }, "low"]
  ] satisfies ReadonlyArray<
    readonly [Parameters<typeof effortFor>[0], Partial<Parameters<typeof effortFor>[1]>, ReturnType<typeof effortFor>]
  >)("%j with %j: %s", (provider, model, expected) =>
    assert.strictEqual(
      effortFor(provider, { supportedEfforts: undefined, defaultEffort: undefined, ...model }),
      expected
    )
  )
})
