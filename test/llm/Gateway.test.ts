import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import { Gateway } from "../../src/llm/Gateway.ts"
import type { GatewayRequest } from "../../src/llm/Gateway.ts"
import { gatewayLayer } from "../../src/llm/GatewayLayer.ts"
import { faults, startFakeModel } from "../harness/FakeModel.ts"
import type { Script } from "../harness/FakeModel.ts"
import type { Reply } from "../harness/FakeModelReply.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { documentFor, env, protocols, publicKey } from "./Protocols.ts"
import type { ProtocolCase } from "./Protocols.ts"
import { testOwners } from "../harness/Owners.ts"
import type { Owners } from "../harness/Owners.ts"

const tool = {
  name: "report_problem",
  description: "report",
  parameters: { type: "object", properties: { file: { type: "string" } }, required: ["file"] }
}

const fakeModel = (script: Script) =>
  Effect.acquireRelease(
    Effect.promise(() => startFakeModel(script, { publicKey })),
    (fake) => Effect.promise(() => fake.close())
  )

const request = (document: unknown, more: Partial<GatewayRequest> = {}): GatewayRequest => ({
  snapshot: testSnapshot(document, env),
  group: "default",
  role: "heavy",
  system: "You review.",
  messages: [{ role: "user", text: "the diff" }],
  tools: [tool],
  deadlineMillis: 20_000,
  ...more
})

const call = (document: unknown, more: Partial<GatewayRequest> = {}) =>
  Gateway.use((gateway) => gateway.call(request(document, more)))

const run = <A, E>(effect: Effect.Effect<A, E, Gateway | Owners>) =>
  effect.pipe(Effect.provide([gatewayLayer, Logger.layer([]), testOwners]))

/** Short where it is to run out; where it is not, long enough for a busy machine. */
const timeoutFor = (reason: string) => (reason === "timeout" ? 300 : 10_000)

/** Returns the reason that one reply to every request leads to, and the number of requests (at most two). */
const outcomes: ReadonlyArray<readonly [string, Reply, string, number]> = [
  ["401", faults.unauthorized(), "unauthorized", 1],
  [
    "403 of a gateway's moderation",
    { status: 403, body: '{"error":{"message":"flagged by moderation"}}' },
    "refused",
    1
  ],
  ["403", { status: 403, body: '{"error":{"message":"key disabled"}}' }, "unauthorized", 1],
  ["429 with a quota that is used up", faults.quota, "rate_limited", 1],
  ["500", faults.serverError, "unavailable", 2],
  ["context overflow", faults.overflow, "overflow", 1],
  ["bad request", faults.badRequest, "invalid", 1],
  ["unknown model", faults.noSuchModel, "not_configured", 1],
  ["refusal", faults.refusal, "refused", 1],
  ["cut body", faults.cutBody, "unavailable", 2],
  ["invalid JSON", faults.invalidJson, "unavailable", 2],
  ["silence", faults.silent, "timeout", 1],
  ["stalled body", faults.stalledBody, "timeout", 1],
  ["redirect", { status: 302, headers: { location: "http://127.0.0.1:1/" } }, "not_configured", 1]
]

describe.each(protocols)("gateway over $name", (protocol: ProtocolCase) => {
  it.live("sends key, system, messages and tools, and returns text, calls and usage", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({
        text: "thinking aloud",
        calls: [{ name: "aicr.report_problem", input: { file: "a.ts" } }],
        usage: { input: 1000, output: 50, cached: 400 }
      })
      const answer = yield* call(documentFor(protocol, fake.url))
      assert.strictEqual(answer.model, `p/${protocol.model ?? "m"}`)
      assert.strictEqual(answer.text, "thinking aloud")
      assert.deepStrictEqual(
        answer.calls.map(({ name, input }) => ({ name, input })),
        [{ name: "report_problem", input: { file: "a.ts" } }]
      )
      assert.deepStrictEqual(answer.usage, {
        inputTokens: 1000,
        outputTokens: 50,
        cachedTokens: 400,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        costUsd: undefined
      })
      assert.deepStrictEqual(answer.fallbacks, [])
      const [sent] = fake.requests
      assert.strictEqual(sent?.path, protocol.path)
      assert.match(String(sent?.headers[protocol.key[0]]), protocol.key[1])
      for (const part of ["You review.", "the diff", "report_problem"]) assert.include(sent?.text, part)
    }).pipe(Effect.scoped, run)
  )

  it.live("repeats a conversation with calls, results and its own native form", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel([
        { calls: [{ name: "report_problem", input: { file: "a.ts" } }] },
        { text: "done" }
      ])
      const document = documentFor(protocol, fake.url)
      const first = yield* call(document)
      const second = yield* call(document, {
        messages: [
          { role: "user", text: "the diff" },
          { role: "assistant", text: first.text, calls: first.calls, native: first.native },
          { role: "tool", results: first.calls.map(({ id, name }) => ({ id, name, output: "it is recorded" })) }
        ]
      })
      assert.strictEqual(second.text, "done")
      for (const part of ["a.ts", "it is recorded"]) assert.include(fake.requests[1]?.text, part)
    }).pipe(Effect.scoped, run)
  )

  it.live.each(outcomes)("%s", ([, reply, reason, requests]) =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(reply)
      const document = documentFor(protocol, fake.url, { provider: { timeout_ms: timeoutFor(reason) } })
      const error = yield* Effect.flip(call(document))
      assert.strictEqual(error.reason, reason)
      assert.strictEqual(fake.requests.length, requests)
      assert.include(error.message, `p/${protocol.model ?? "m"}: `)
      assert.notInclude(error.message, "test-key")
      assert.notInclude(error.message, "sk-wrong")
    }).pipe(Effect.scoped, run)
  )

  it.live("an interrupted call aborts the request", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(faults.silent)
      const fiber = yield* Effect.forkChild(call(documentFor(protocol, fake.url)))
      yield* waitUntil(() => fake.requests.length === 1)
      yield* Fiber.interrupt(fiber)
      yield* waitUntil(() => fake.aborted() === 1)
    }).pipe(Effect.scoped, run)
  )
})

const waitUntil = (condition: () => boolean) =>
  Effect.gen(function* () {
    while (!condition()) yield* Effect.sleep(5)
  }).pipe(Effect.timeout("30 seconds"))

const [chat] = protocols
if (chat === undefined) throw new Error("no protocol")

describe("chains", () => {
  const chain = (urls: ReadonlyArray<string>, more: Record<string, unknown> = {}, timeoutMillis = 10_000) => ({
    llm: {
      providers: urls.map((url, at) => ({
        id: `p${at}`,
        kind: "openai_compatible",
        base_url: `${url}/v1`,
        timeout_ms: timeoutMillis
      })),
      model_chain: { default: urls.map((_, at) => ({ provider: `p${at}`, model: "m" })) },
      retry: { max_attempts: 1, backoff: { kind: "constant", base_ms: 1, max_ms: 1, jitter: false } },
      ...more
    }
  })

  it.live.each(outcomes.filter(([, , reason]) => reason !== "unauthorized" && reason !== "not_configured"))(
    "%s: the next model responds, and the reason for the fallback is recorded",
    ([, reply, reason]) =>
      Effect.gen(function* () {
        const first = yield* fakeModel(reply)
        const second = yield* fakeModel({ text: "hello" })
        const answer = yield* call(chain([first.url, second.url], {}, timeoutFor(reason)))
        assert.strictEqual(answer.model, "p1/m")
        assert.strictEqual(answer.fallbacks[0]?.model, "p0/m")
        assert.strictEqual(answer.fallbacks[0]?.reason, reason)
      }).pipe(Effect.scoped, run)
  )

  it.live.each([
    ["401", faults.unauthorized()],
    ["unknown model", faults.noSuchModel]
  ] satisfies ReadonlyArray<readonly [string, Reply]>)("%s fails immediately: an operator has to act", ([, reply]) =>
    Effect.gen(function* () {
      const first = yield* fakeModel(reply)
      const second = yield* fakeModel({ text: "hello" })
      yield* Effect.flip(call(chain([first.url, second.url])))
      assert.strictEqual(second.requests.length, 0)
    }).pipe(Effect.scoped, run)
  )

  it.live("when all fail, a reason that may pass wins, with the shortest wait", () =>
    Effect.gen(function* () {
      const first = yield* fakeModel(faults.rateLimited("7"))
      const second = yield* fakeModel(faults.rateLimited("3"))
      const third = yield* fakeModel(faults.badRequest)
      const retry = { give_up_after_seconds: 1 }
      const error = yield* Effect.flip(call(chain([first.url, second.url, third.url], { retry })))
      assert.strictEqual(error.reason, "rate_limited")
      assert.strictEqual(error.retryAfterMillis, 3000)
      for (const model of ["p0/m: ", "p1/m: ", "p2/m: "]) assert.include(error.message, model)
    }).pipe(Effect.scoped, run)
  )

  it.live("the deadline ends a call with all its fallbacks", () =>
    Effect.gen(function* () {
      const first = yield* fakeModel({
        text: "hello",
        pace: (event) => (event < 3 ? Promise.resolve() : new Promise(() => {}))
      })
      const second = yield* fakeModel({ text: "hello" })
      const error = yield* Effect.flip(call(chain([first.url, second.url], {}, 60_000), { deadlineMillis: 100 }))
      assert.strictEqual(error.reason, "timeout")
      assert.strictEqual(second.requests.length, 0)
    }).pipe(Effect.scoped, run)
  )

  it.live("Retry-After is waited for, in seconds and as a date, and beats the backoff", () =>
    Effect.gen(function* () {
      const backoff = { kind: "constant", base_ms: 60_000, max_ms: 60_000, jitter: false }
      const retry = { max_attempts: 2, backoff }
      // A date has whole seconds: two seconds ahead is at least one second away.
      const dates = [() => "1", () => new Date(Date.now() + 2000).toUTCString()]
      for (const date of dates) {
        const fake = yield* fakeModel((_, number) => (number === 0 ? faults.rateLimited(date()) : { text: "hello" }))
        yield* call(chain([fake.url], { retry }))
        const [first, second] = fake.requests
        const waited = (second?.at ?? 0) - (first?.at ?? 0)
        assert.isAtLeast(waited, 950)
        assert.isBelow(waited, 30_000)
      }
    }).pipe(Effect.scoped, run)
  )

  it.live.each([
    ["429", faults.rateLimited("0")],
    ["503", { status: 503, headers: { "retry-after": "0" } }],
    ["529", { ...faults.overloaded, headers: { "retry-after": "0" } }]
  ] as ReadonlyArray<readonly [string, Reply]>)(
    "%s is no attempt where max_attempts is not set: the request is sent until it is accepted",
    ([, refusal]) =>
      Effect.gen(function* () {
        const fake = yield* fakeModel((_, number) => (number < 6 ? refusal : { text: "hello" }))
        const answer = yield* call(chain([fake.url], { retry: {} }))
        assert.strictEqual(answer.text, "hello")
        assert.strictEqual(fake.requests.length, 7)
      }).pipe(Effect.scoped, run)
  )

  it.live.each([
    ["429", { status: 429 }],
    ["503", { status: 503 }],
    ["529", faults.overloaded]
  ] as ReadonlyArray<readonly [string, Reply]>)(
    "%s is an attempt where max_attempts is set, with the waits of the backoff",
    ([, refusal]) =>
      Effect.gen(function* () {
        const fake = yield* fakeModel(refusal)
        const backoff = { kind: "constant", base_ms: 20, max_ms: 20, jitter: false }
        const error = yield* Effect.flip(call(chain([fake.url], { retry: { max_attempts: 3, backoff } })))
        assert.include(["rate_limited", "unavailable"], error.reason)
        const [first, , last] = fake.requests
        assert.strictEqual(fake.requests.length, 3)
        assert.isAtLeast((last?.at ?? 0) - (first?.at ?? 0), 38)
        // The limiter's own pauses would be 1 and 2 seconds.
        assert.isBelow((last?.at ?? 0) - (first?.at ?? 0), 1_000)
      }).pipe(Effect.scoped, run)
  )

  it.live("a silent server on a private address is left after give_up_after_seconds for the next model", () =>
    Effect.gen(function* () {
      const silent = yield* fakeModel(faults.silent)
      const ready = yield* fakeModel({ text: "hello" })
      const retry = { give_up_after_seconds: 0.3 }
      const answer = yield* call(chain([silent.url, ready.url], { retry }, 60_000))
      assert.deepStrictEqual([answer.model, answer.fallbacks], ["p1/m", [{ model: "p0/m", reason: "timeout" }]])
    }).pipe(Effect.scoped, run)
  )

  it.live("give_up_after_seconds includes the pauses of a provider that refuses", () =>
    Effect.gen(function* () {
      const busy = yield* fakeModel((_, number) => (number < 40 ? { status: 429 } : faults.silent))
      const since = Date.now()
      yield* Effect.flip(call(chain([busy.url], { retry: { give_up_after_seconds: 2 } }, 60_000)))
      assert.isBelow(Date.now() - since, 6_000)
    }).pipe(Effect.scoped, run)
  )

  it.live("a model that refuses all attempts, or for long, is left for the next one of the chain", () =>
    Effect.gen(function* () {
      const ready = yield* fakeModel({ text: "hello" })
      const busy = yield* fakeModel(faults.rateLimited("0"))
      yield* call(chain([busy.url, ready.url], { retry: { max_attempts: 2 } }))
      assert.strictEqual(busy.requests.length, 2)
      const away = yield* fakeModel(faults.rateLimited("31"))
      yield* call(chain([away.url, ready.url], { retry: { max_attempts: 5 } }))
      assert.strictEqual(away.requests.length, 1)
    }).pipe(Effect.scoped, run)
  )

  it.live("a provider that is paused for long is passed over without a request", () =>
    Effect.gen(function* () {
      const ready = yield* fakeModel({ text: "hello" })
      const headers = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s" }
      const exhausted = yield* fakeModel({ text: "last one", headers })
      const document = chain([exhausted.url, ready.url])
      const models = yield* Effect.replicateEffect(call(document), 2)
      assert.deepStrictEqual(
        models.map(({ model }) => model),
        ["p0/m", "p1/m"]
      )
      assert.strictEqual(exhausted.requests.length, 1)
    }).pipe(Effect.scoped, run)
  )

  it.live("twenty reviews at a provider that takes one call at a time all get their response", () =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const fake = yield* fakeModel(async () => {
        if (running >= 1) return faults.rateLimited("0")
        running++
        most = Math.max(most, running)
        await new Promise((resolve) => setTimeout(resolve, 5))
        running--
        return { text: "hello" }
      })
      const document = chain([fake.url], { retry: {} })
      const texts = yield* Effect.forEach(Array.from({ length: 20 }), () => call(document), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual([...new Set(texts.map(({ text }) => text))], ["hello"])
      assert.strictEqual(most, 1)
    }).pipe(Effect.scoped, run)
  )

  it.live("a wait beyond give_up_after_seconds is not waited for; a provider's override wins", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(faults.rateLimited("30"))
      const retry = { max_attempts: 5, give_up_after_seconds: 100 }
      const error = yield* Effect.flip(
        call(chain([fake.url], { retry, per_provider_overrides: { p0: { give_up_after_seconds: 2 } } }))
      )
      assert.strictEqual(error.retryAfterMillis, 30_000)
      assert.strictEqual(fake.requests.length, 1)
    }).pipe(Effect.scoped, run)
  )

  it.live("a caller may wait for less time than the provider demands", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel(faults.rateLimited("30"))
      const error = yield* Effect.flip(call(chain([fake.url]), { maxThrottledMillis: 2_000 }))
      assert.deepStrictEqual([error.reason, error.retryAfterMillis, fake.requests.length], ["rate_limited", 30_000, 1])
    }).pipe(Effect.scoped, run)
  )

  it.live("a group that does not exist or a provider without its key is reported before a request", () =>
    Effect.gen(function* () {
      const none = yield* Effect.flip(call(chain(["http://127.0.0.1:9"]), { group: "heavy" }))
      assert.match(none.message, /no group "heavy"/)
      const keyless = { ...chat, settings: () => ({ base_url: "http://127.0.0.1:9/v1", api_key_env: "ABSENT_KEY" }) }
      const key = yield* Effect.flip(call(documentFor(keyless, "")))
      assert.match(key.message, /ABSENT_KEY/)
      for (const kind of ["vertex_ai", "bedrock", "copilot"] as const) {
        const error = yield* Effect.flip(
          call(documentFor({ ...chat, kind, settings: () => ({ api_key_env: undefined }) }, ""))
        )
        assert.strictEqual(error.reason, "not_configured")
      }
    }).pipe(run)
  )

  it.live("a prompt that cannot fit the context window is not sent", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const document = documentFor(chat, fake.url, { provider: { context_window: 1000 } })
      const error = yield* Effect.flip(call(document, { messages: [{ role: "user", text: "x".repeat(9000) }] }))
      assert.strictEqual(error.reason, "overflow")
      assert.strictEqual(fake.requests.length, 0)
    }).pipe(Effect.scoped, run)
  )
})

describe("settings that shape a request", () => {
  it.live("headers, body fields, organisation, limits and effort", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const provider = {
        organization: "org-1",
        extra_headers: { "x-team": "reviews" },
        extra_body: { top_k: 3 },
        max_output_tokens: 777,
        reasoning_effort: "high",
        thinking_budget_tokens: 2048,
        api_version: "2030-01-01"
      }
      yield* call(documentFor(chat, fake.url, { provider }))
      const [sent] = fake.requests
      assert.include(sent?.path, "api-version=2030-01-01")
      assert.strictEqual(sent?.headers["x-team"], "reviews")
      assert.strictEqual(sent?.headers["openai-organization"], "org-1")
      assert.deepInclude(sent?.body, {
        top_k: 3,
        max_tokens: 777,
        reasoning_effort: "high",
        thinking: { type: "enabled", budget_tokens: 2048 }
      })
    }).pipe(Effect.scoped, run)
  )

  it.live("cost comes from a catalog override, cached tokens at their own price", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello", usage: { input: 1_000_000, output: 100_000, cached: 400_000 } })
      const overrides = { "p/m": { cost: { input: 2, output: 10, cache_read: 0.5 } } }
      const answer = yield* call(documentFor(chat, fake.url, { llm: { model_catalog: { overrides } } }))
      assert.approximately(answer.usage.costUsd ?? 0, 0.6 * 2 + 0.4 * 0.5 + 0.1 * 10, 1e-9)
    }).pipe(Effect.scoped, run)
  )

  it.live("signed reasoning goes back to the model it came from, and to no other", () =>
    Effect.gen(function* () {
      const signed = {
        candidates: [
          {
            content: {
              role: "model",
              parts: [
                {
                  functionCall: { name: "report_problem", args: { file: "a.ts" } },
                  thoughtSignature: "c2lnbmF0dXJl"
                }
              ]
            },
            finishReason: "STOP"
          }
        ]
      }
      const gemini = yield* fakeModel([{ stream: [`data: ${JSON.stringify(signed)}\n\n`] }, { text: "done" }])
      const other = yield* fakeModel({ text: "done" })
      const document = {
        llm: {
          providers: [
            { id: "g", kind: "google_ai_studio", base_url: gemini.url, api_key_env: "TEST_KEY" },
            { id: "o", kind: "openai_compatible", base_url: `${other.url}/v1` }
          ],
          model_chain: {
            default: [
              { provider: "g", model: "m" },
              { provider: "o", model: "m" }
            ]
          }
        }
      }
      const first = yield* call(document)
      const messages = [
        { role: "user", text: "the diff" },
        { role: "assistant", text: first.text, calls: first.calls, native: first.native },
        { role: "tool", results: first.calls.map(({ id, name }) => ({ id, name, output: "recorded" })) }
      ] satisfies GatewayRequest["messages"]
      yield* call(document, { messages })
      assert.include(gemini.requests[1]?.text, "c2lnbmF0dXJl")
      yield* call(document, { messages, avoid: ["g/m"] })
      assert.notInclude(other.requests[0]?.text, "c2lnbmF0dXJl")
      assert.include(other.requests[0]?.text, "a.ts")
    }).pipe(Effect.scoped, run)
  )

  it.live("per_provider_rps paces the requests", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const document = { ...documentFor(chat, fake.url), queue: { rate_limit: { per_provider_rps: { p: 5 } } } }
      yield* Effect.forEach(Array.from({ length: 15 }), () => call(document), { concurrency: "unbounded" })
      const times = fake.requests.map(({ at }) => at)
      // At most five at the same time, ten more a fifth of a second apart: two seconds, less the delay of the first on a busy machine.
      assert.isAtLeast(Math.max(...times) - Math.min(...times), 1000)
    }).pipe(Effect.scoped, run)
  )

  it.live("Anthropic: version, beta, prompt caching and its switch", () =>
    Effect.gen(function* () {
      const fake = yield* fakeModel({ text: "hello" })
      const [anthropic] = protocols.filter(({ name }) => name === "anthropic")
      if (anthropic === undefined) return assert.fail("no protocol")
      const provider = { anthropic_version: "2030-01-01", anthropic_beta: ["a", "b"] }
      yield* call(documentFor(anthropic, fake.url, { provider }))
      yield* call(documentFor(anthropic, fake.url, { provider: { ...provider, cache_control: "off" } }))
      assert.strictEqual(fake.requests[0]?.headers["anthropic-version"], "2030-01-01")
      assert.strictEqual(fake.requests[0]?.headers["anthropic-beta"], "a,b")
      assert.include(fake.requests[0]?.text, "ephemeral")
      assert.notInclude(fake.requests[1]?.text, "ephemeral")
    }).pipe(Effect.scoped, run)
  )
})
