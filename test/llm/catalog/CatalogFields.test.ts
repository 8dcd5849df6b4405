/** Fields of `llm.model_catalog`: each set in a configuration, observed at the server of the document and in the records. */
import { createServer } from "node:http"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { layerMemory } from "../../../src/llm/catalog/MemoryCatalogCache.ts"
import { catalog } from "../../../src/app/ModelServices.ts"
import * as SqliteClient from "../../../src/database/sqlite/SqliteClient.ts"
import * as Store from "../../../src/store/StoreLayer.ts"

const document = { openai: { models: { "gpt-4o": { id: "gpt-4o", limit: { context: 1234, output: 99 } } } } }

/** A server of the document that counts its requests; a silent one never responds. */
const source = (silent = false) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      let requests = 0
      const server = createServer((_, response) => {
        requests++
        if (!silent) response.end(JSON.stringify(document))
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      return { url: `http://127.0.0.1:${port}/api.json`, requests: () => requests, server }
    }),
    ({ server }) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

/** No document of another address is fetched, whatever is configured. */
const closedNetwork = Effect.acquireRelease(
  Effect.sync(() => {
    const before = process.env["HTTPS_PROXY"]
    process.env["HTTPS_PROXY"] = "http://127.0.0.1:9"
    return before
  }),
  (before) =>
    Effect.sync(() => {
      if (before === undefined) delete process.env["HTTPS_PROXY"]
      else process.env["HTTPS_PROXY"] = before
    })
)

const configured = (model_catalog: Record<string, unknown>) =>
  toSnapshot(
    {
      llm: {
        providers: [{ id: "p", kind: "openai_compatible", catalog_provider: "openai" }],
        model_catalog: { enabled: true, ...model_catalog }
      }
    },
    {}
  )

const window = (snapshot: Effect.Success<ReturnType<typeof configured>>) =>
  Effect.gen(function* () {
    const { llm } = snapshot.document
    const [provider] = llm.providers
    if (provider === undefined) return yield* Effect.die("no provider")
    return (yield* (yield* Catalog).spec(llm, provider, "gpt-4o")).contextWindow
  })

const quiet = Logger.layer([])
const inMemory = Layer.merge(Catalog.layerWith({ waits: true }).pipe(Layer.provide(Layer.fresh(layerMemory))), quiet)

it.live("source_url: the document comes from there", () =>
  Effect.gen(function* () {
    yield* closedNetwork
    const { requests, url } = yield* source()
    assert.strictEqual(yield* window(yield* configured({ source_url: url })), 1234)
    assert.strictEqual(requests(), 1)
  }).pipe(Effect.scoped, Effect.provide(inMemory))
)

it.live("offline: nothing is fetched, and the bundled figures hold", () =>
  Effect.gen(function* () {
    const { requests, url } = yield* source()
    assert.strictEqual(yield* window(yield* configured({ source_url: url, offline: true })), 128_000)
    assert.strictEqual(requests(), 0)
  }).pipe(Effect.scoped, Effect.provide(inMemory))
)

it.live("fetch_timeout_ms: a fetch that takes longer ends", () =>
  Effect.gen(function* () {
    const { requests, url } = yield* source(true)
    const snapshot = yield* configured({ source_url: url, fetch_timeout_ms: 100 })
    assert.strictEqual(yield* window(snapshot).pipe(Effect.timeout("8 seconds")), 128_000)
    assert.strictEqual(requests(), 1)
  }).pipe(Effect.scoped, Effect.provide(inMemory))
)

it.effect("refresh_interval_hours: the document is fetched again when it is older", () =>
  Effect.gen(function* () {
    const { requests, url } = yield* source()
    const snapshot = yield* configured({ source_url: url, refresh_interval_hours: 2 })
    for (const [hours, expected] of [
      [0, 1],
      [1, 1],
      [2, 2]
    ] as const) {
      yield* TestClock.adjust(`${hours} hours`)
      yield* window(snapshot)
      assert.strictEqual(requests(), expected)
    }
  }).pipe(Effect.scoped, Effect.provide(inMemory))
)

it.live.each([
  ["memory", 0],
  ["sqlite", 1]
] as const)("cache.backend: %s keeps %i models in the records", ([backend, expected]) =>
  Effect.gen(function* () {
    const { url } = yield* source()
    const snapshot = yield* configured({ source_url: url, cache: { backend } })
    const rows = Effect.gen(function* () {
      // Returns the fetched figure only once the document is kept.
      while ((yield* window(snapshot)) !== 1234) yield* Effect.sleep(10)
      const sql = yield* SqlClient.SqlClient
      return yield* sql`SELECT id FROM catalog_models`
    })
    const records = Layer.provideMerge(Store.layer("auto"), SqliteClient.layer({ path: ":memory:" }))
    const parts = catalog.pipe(Layer.provideMerge(records), Layer.provideMerge(layerStatic(snapshot)))
    assert.strictEqual((yield* Effect.provide(rows, parts)).length, expected)
  }).pipe(Effect.scoped, Effect.provide(quiet))
)
