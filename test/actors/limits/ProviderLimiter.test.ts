/** Permits over the real path: two gateways, like those of two nodes, share one actor per provider. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { Sharding } from "effect/cluster"
import * as ProviderLimiter from "../../../actors/limits/ProviderLimiter.ts"
import { Budget } from "../../../src/llm/Budget.ts"
import { Catalog } from "../../../src/llm/Catalog.ts"
import { layerMemory } from "../../../src/llm/catalog/MemoryCatalogCache.ts"
import { Evidence } from "../../../src/llm/Evidence.ts"
import { Gateway } from "../../../src/llm/Gateway.ts"
import * as GatewayLayer from "../../../src/llm/GatewayLayer.ts"
import { Limiter } from "../../../src/llm/Limiter.ts"
import { ModelRun } from "../../../src/llm/ModelRun.ts"
import { ProviderStates } from "../../../src/llm/ProviderStates.ts"
import { WarningLimits } from "../../../src/observability/LimitedWarnings.ts"
import { faults, startFakeModel } from "../../harness/FakeModel.ts"
import type { Script } from "../../harness/FakeModel.ts"
import { testCluster } from "../../harness/TestCluster.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"

const cluster = ProviderLimiter.layer.pipe(Layer.provideMerge(testCluster))
/** A separate gateway over the shared actors. */
const node = GatewayLayer.layer.pipe(
  Layer.provide([
    Layer.fresh(ProviderLimiter.limiterLayer),
    Budget.layerMemory,
    Evidence.layerNone,
    Catalog.layer.pipe(Layer.provide(layerMemory))
  ]),
  Layer.fresh
)

const fakeModel = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script)),
    (fake) => Effect.promise(() => fake.close())
  )

const call = (url: string, run: string, rps?: number, maxAttempts?: number, giveUp?: number) =>
  Gateway.use((gateway) =>
    gateway.call({
      snapshot: testSnapshot({
        llm: {
          providers: [{ id: "p", kind: "openai_compatible", base_url: `${url}/v1` }],
          model_chain: { default: [{ provider: "p", model: "m" }] },
          retry: {
            ...(giveUp === undefined ? {} : { give_up_after_seconds: giveUp }),
            ...(maxAttempts === undefined ? {} : { max_attempts: maxAttempts }),
            backoff: { kind: "constant", base_ms: 1, max_ms: 1, jitter: false }
          }
        },
        ...(rps === undefined ? {} : { queue: { rate_limit: { per_provider_rps: { p: rps } } } })
      }),
      group: "default",
      role: "any",
      system: "",
      messages: [{ role: "user", text: run }],
      tools: [],
      deadlineMillis: 20_000
    })
  ).pipe(Effect.provideService(ModelRun, { id: run, repository: "r" }))

const nodes = Effect.gen(function* () {
  const build = Effect.map(
    Layer.build(node),
    (context) =>
      <A, E>(effect: Effect.Effect<A, E, Gateway>) =>
        Effect.provideContext(effect, context)
  )
  return [yield* build, yield* build] as const
})

type Node = <A, E>(effect: Effect.Effect<A, E, Gateway>) => Effect.Effect<A, E>
/** Loads the modules and opens the connection of each gateway. */
const warm = (url: string, ...gateways: ReadonlyArray<Node>) =>
  Effect.forEach(gateways, (gateway) => gateway(call(url, "warm")), { discard: true })

describe("provider limiter", () => {
  it.live("a Retry-After received by one node applies to the other", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel((_, number) => (number === 2 ? faults.rateLimited("2") : { text: "hello" }))
      const [first, second] = yield* nodes
      yield* warm(fake.url, first, second)
      const error = yield* Effect.flip(first(call(fake.url, "a", undefined, 1, 2)))
      assert.strictEqual(error.retryAfterMillis, 2000)
      yield* second(call(fake.url, "b"))
      const [, , refused, served] = fake.requests
      assert.isAtLeast((served?.at ?? 0) - (refused?.at ?? 0), 1_950)
    }).pipe(Effect.scoped, Effect.provide([cluster, Logger.layer([])]))
  )

  it.live("an exhausted rate limit reported to one node applies to the other", () =>
    Effect.gen(function* () {
      const headers = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s" }
      const fake = yield* fakeModel((_, number) => (number === 2 ? { text: "hello", headers } : { text: "hello" }))
      const [first, second] = yield* nodes
      yield* warm(fake.url, first, second)
      yield* first(call(fake.url, "a"))
      yield* second(call(fake.url, "b"))
      const [, , exhausted, served] = fake.requests
      assert.isAtLeast((served?.at ?? 0) - (exhausted?.at ?? 0), 950)
    }).pipe(Effect.scoped, Effect.provide([cluster, Logger.layer([])]))
  )

  it.live("the rate holds over both nodes together", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const [first, second] = yield* nodes
      yield* warm(fake.url, first, second)
      yield* Effect.forEach(
        Array.from({ length: 24 }, (_, at) => at),
        (at) => (at % 2 === 0 ? first : second)(call(fake.url, `run-${at}`, 8)),
        { concurrency: "unbounded" }
      )
      const times = fake.requests.slice(2).map(({ at }) => at)
      // At most eight together, sixteen more an eighth of a second apart: two seconds, less the delay of a busy machine for the first.
      assert.isAtLeast(Math.max(...times) - Math.min(...times), 1000)
    }).pipe(Effect.scoped, Effect.provide([cluster, Logger.layer([])]))
  )

  it.live("a run with many requests does not hold up a small one that comes later", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const [first, second] = yield* nodes
      yield* warm(fake.url, first, second)
      const big = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 16 }), () => first(call(fake.url, "big", 2)), { concurrency: "unbounded" })
      )
      while (fake.requests.length < 6) yield* Effect.sleep(5)
      yield* second(call(fake.url, "small", 2))
      const place = fake.requests.findIndex(({ text }) => text.includes("small"))
      assert.isAtMost(place, 10)
      yield* Effect.yieldNow
      assert.isUndefined(big.pollUnsafe())
    }).pipe(Effect.scoped, Effect.provide([cluster, Logger.layer([])]))
  )

  it.live("a pause longer than give_up_after_seconds ends the calls of both nodes without a request", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel((_, number) => (number === 0 ? faults.rateLimited("120") : { text: "hello" }))
      const [first, second] = yield* nodes
      yield* Effect.flip(first(call(fake.url, "a", undefined, 1, 60)))
      const error = yield* Effect.flip(second(call(fake.url, "b", undefined, 3, 60)))
      assert.strictEqual(error.reason, "rate_limited")
      assert.isAtLeast(error.retryAfterMillis ?? 0, 110_000)
      assert.strictEqual(fake.requests.length, 1)
    }).pipe(Effect.scoped, Effect.provide([cluster, Logger.layer([])]))
  )

  it.live("a refusal received by one node limits the calls of the other", () =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const fake = yield* fakeModel(async (_, number) => {
        if (number < 3) return faults.rateLimited("0")
        most = Math.max(most, ++running)
        await new Promise((resolve) => setTimeout(resolve, 20))
        running--
        return { text: "hello" }
      })
      const [first, second] = yield* nodes
      yield* first(call(fake.url, "a"))
      // Three refusals of single calls: one call at a time.
      yield* Effect.forEach(
        Array.from({ length: 6 }, (_, at) => at),
        (at) => second(call(fake.url, `run-${at}`)),
        { concurrency: "unbounded" }
      )
      assert.isAtMost(most, 2)
    }).pipe(Effect.scoped, Effect.provide([cluster, Logger.layer([])]))
  )

  it.live("an operator reads the calls of both nodes, and ends a pause for both", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel((_, number) => (number === 2 ? faults.rateLimited("600") : { text: "hello" }))
      const [first, second] = yield* nodes
      yield* warm(fake.url, first, second)
      yield* Effect.flip(first(call(fake.url, "a", undefined, 1, 2)))
      const states = Context.get(yield* Layer.build(ProviderLimiter.statesLayer), ProviderStates)
      const paused = yield* states.read("p")
      assert.deepStrictEqual(
        [paused?.pause?.cause, paused?.responses, paused?.errors],
        ["requested", 2, { rate_limited: 1 }]
      )
      assert.isAbove(paused?.tokensPerMinute ?? 0, 0)
      assert.isTrue(yield* states.resume("p"))
      yield* second(call(fake.url, "b"))
      assert.isUndefined((yield* states.read("p"))?.pause)
    }).pipe(Effect.scoped, Effect.provide([cluster, Logger.layer([])]))
  )
})

it.effect("while the limiter is unavailable, its callers warn once a minute for each provider", () => {
  const lines: Array<unknown> = []
  const unavailable = Effect.fail({ message: "no node runs it" })
  const client = { Acquire: () => unavailable, Release: () => unavailable, Pause: () => unavailable }
  const sharding = Layer.succeed(Sharding.Sharding, { makeClient: () => Effect.succeed(() => client) } as never)
  const limiter = ProviderLimiter.limiterLayer.pipe(Layer.provide(sharding))
  const request = { rps: undefined, run: "run", expectedCalls: 1, maxWaitMillis: 1000 }
  return Effect.gen(function* () {
    const { pause, withPermit } = yield* Limiter
    for (const provider of ["p", "p", "q", "p"]) {
      yield* withPermit(provider, request, Effect.void, () => ({ kind: "answered" }))
      yield* pause(provider, 1000)
    }
    const warnings = ["provider limiter unavailable", "permit of a provider not released, retry scheduled"]
    for (const warning of [...warnings, "pause of a provider not shared"]) {
      assert.strictEqual(lines.filter((line) => JSON.stringify(line).includes(warning)).length, 2, warning)
    }
  }).pipe(
    Effect.scoped,
    Effect.provide([limiter, Logger.layer([Logger.make(({ message }) => lines.push(message))])]),
    Effect.provideService(WarningLimits, new Map())
  )
})
