/** The pure decisions of the gateway as tables: failure classes, waiting, order of models, names of tools, prices. */
import { assert, describe, it } from "@effect/vitest"
import { APICallError } from "ai"
import * as fc from "fast-check"
import { candidates, modelKey } from "../../src/llm/calls/Chain.ts"
import { classify, scrub } from "../../src/llm/calls/Failure.ts"
import { providerProblems } from "../../src/llm/providers/ProviderProblems.ts"
import { versioned } from "../../src/llm/providers/ProviderSettings.ts"
import { defaultRetryPolicy, retryDelayMillis, retryPolicy } from "../../src/llm/calls/RetryPolicy.ts"
import { anthropicThinking, googleThinking, openaiEffort } from "../../src/llm/providers/Thinking.ts"
import { resolveToolName } from "../../src/llm/ToolNames.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { inEnglish } from "../../src/text/en.ts"

const now = Date.parse("2026-01-02T03:04:05Z")

const apiError = (
  statusCode: number | undefined,
  message = "no",
  more: { body?: string; headers?: Record<string, string> } = {}
) =>
  new APICallError({
    message,
    url: "https://x/",
    requestBodyValues: {},
    ...(statusCode === undefined ? {} : { statusCode }),
    ...(more.body === undefined ? {} : { responseBody: more.body }),
    ...(more.headers === undefined ? {} : { responseHeaders: more.headers })
  })

describe("classify", () => {
  const cases: ReadonlyArray<readonly [string, unknown, string, boolean, boolean]> = [
    ["429", apiError(429), "rate_limited", true, true],
    ["429 quota", apiError(429, "You exceeded your current quota"), "rate_limited", false, true],
    ["402", apiError(402), "rate_limited", false, true],
    ["401", apiError(401), "unauthorized", false, false],
    ["403", apiError(403), "unauthorized", false, false],
    [
      "Gemini's wrong key",
      apiError(400, "API key not valid. Please pass a valid API key."),
      "unauthorized",
      false,
      false
    ],
    ["404", apiError(404), "not_configured", false, false],
    ["302", apiError(302), "not_configured", false, false],
    ["408", apiError(408), "unavailable", true, true],
    ["500", apiError(500), "unavailable", true, true],
    ["529", apiError(529), "unavailable", true, true],
    ["413", apiError(413), "overflow", false, true],
    [
      "Anthropic's overflow",
      apiError(400, "prompt is too long: 210000 tokens > 200000 maximum"),
      "overflow",
      false,
      true
    ],
    [
      "Gemini's overflow",
      apiError(400, "The input token count (2000000) exceeds the maximum number of tokens allowed"),
      "overflow",
      false,
      true
    ],
    [
      "OpenAI's overflow in the body",
      apiError(400, "Bad Request", { body: '{"error":{"code":"context_length_exceeded"}}' }),
      "overflow",
      false,
      true
    ],
    ["400", apiError(400, "unknown field"), "invalid", false, true],
    ["no connection", apiError(undefined, "Cannot connect to API: ECONNREFUSED"), "unavailable", true, true],
    ["200 with a page", apiError(200, "Invalid JSON response"), "unavailable", true, true],
    ["anything else", new TypeError("terminated"), "unavailable", true, true]
  ]
  it.each(cases)("%s", (_, error, kind, repeat, next) => {
    const failed = classify(error, [], now)
    assert.deepStrictEqual([failed.kind, failed.repeat, failed.next], [kind, repeat, next])
  })

  it("the key is in no message, whole or as part of an echo", () => {
    const key = "k-0123456789"
    const failed = classify(apiError(401, `bad key ${key} in Bearer ${key} and ?key=${key}`), [key], now)
    assert.notInclude(JSON.stringify(failed), key)
  })

  it("messages are one line and short, whatever the provider sends", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2000 }), (text) => {
        const clean = scrub(text, ["secret"])
        assert.isAtMost(clean.length, 300)
        assert.notMatch(clean, /\n|secret/)
      })
    )
  })
})

describe("retryDelayMillis", () => {
  const backoff = { kind: "exponential", base_ms: 100, max_ms: 1000, jitter: false } as const
  const policy = { ...defaultRetryPolicy, backoff }

  it("is the backoff of the attempt, with the jitter that the configuration sets", () => {
    const { llm } = testSnapshot({ llm: { providers: [{ id: "p", kind: "ollama" }] } }).document
    const delays = (given: { readonly jitter?: boolean }) => {
      const configured = retryPolicy({ ...llm, retry: { backoff: given } }, "p")
      return [0, 0.5, 0.999].map((random) => retryDelayMillis(configured, 2, undefined, random))
    }
    assert.deepStrictEqual(delays({}), [2000, 1500, 1001])
    assert.deepStrictEqual(delays({ jitter: true }), [2000, 1500, 1001])
    assert.deepStrictEqual(delays({ jitter: false }), [2000, 2000, 2000])
  })

  it("Retry-After is obeyed exactly, unless it is not respected", () => {
    assert.strictEqual(retryDelayMillis(policy, 1, 90_000, 0.9), 90_000)
    assert.strictEqual(retryDelayMillis({ ...policy, respectRetryAfter: false }, 1, 90_000, 0), 100)
  })

  it.each([
    ["base_ms", { backoff: { base_ms: 70, jitter: false } }, [70, 140, 280], undefined],
    ["max_ms", { backoff: { max_ms: 1500, jitter: false } }, [1000, 1500, 1500], undefined],
    ["jitter", { backoff: { jitter: false } }, [1000, 2000, 4000], undefined],
    ["respect_retry_after", { respect_retry_after: false, backoff: { jitter: false } }, [1000, 2000, 4000], 90_000]
  ] as const)("llm.retry: %s decides how long it waits", (_, retry, expected, retryAfterMillis) => {
    const { llm } = testSnapshot({ llm: { providers: [{ id: "p", kind: "ollama" }], retry } }).document
    const waits = expected.map((_wait, at) => retryDelayMillis(retryPolicy(llm, "p"), at + 1, retryAfterMillis, 0.5))
    assert.deepStrictEqual(waits, [...expected])
  })

  it("the provider's override beats llm.retry, which beats the defaults", () => {
    const { llm } = testSnapshot({
      llm: {
        providers: [{ id: "p", kind: "ollama" }],
        retry: { max_attempts: 4, give_up_after_seconds: 10, backoff: { kind: "linear" } },
        per_provider_overrides: { p: { max_attempts: 2, give_up_after_seconds: 1.5 } }
      }
    }).document
    assert.deepInclude(retryPolicy(llm, "p"), {
      maxAttempts: 2,
      countsRefusals: true,
      giveUpMillis: 1500,
      backoff: { kind: "linear", base_ms: 1000, max_ms: 30_000, jitter: true }
    })
    assert.deepInclude(retryPolicy(llm, "q"), { maxAttempts: 4, giveUpMillis: 10_000 })
  })
})

describe("candidates", () => {
  const { llm } = testSnapshot({
    llm: {
      providers: [{ id: "p", kind: "ollama" }],
      model_chain: {
        default: [
          { provider: "p", model: "light", role: "light" },
          { provider: "p", model: "heavy", role: "heavy" },
          { provider: "p", model: "any" },
          { provider: "p", model: "heavy", role: "heavy" }
        ]
      }
    }
  }).document
  const names = (request: Partial<Parameters<typeof candidates>[1]>) =>
    candidates(llm, { group: "default", role: "any", ...request }).map(modelKey)

  it.each([
    [{ role: "heavy" }, ["p/heavy", "p/any", "p/light"]],
    [{ role: "light" }, ["p/light", "p/any", "p/heavy"]],
    [{ role: "any" }, ["p/light", "p/heavy", "p/any"]],
    [{ role: "heavy", prefer: "p/any" }, ["p/any", "p/heavy", "p/light"]],
    [{ role: "heavy", avoid: ["p/heavy", "p/light"] }, ["p/any"]],
    [{ group: "other" }, []]
  ] satisfies ReadonlyArray<readonly [Partial<Parameters<typeof candidates>[1]>, ReadonlyArray<string>]>)(
    "%j",
    (request, expected) => assert.deepStrictEqual(names(request), [...expected])
  )
})

describe("resolveToolName", () => {
  const offered = ["report_problem", "skip", "try_blame"]
  it.each([
    ["report_problem", "report_problem"],
    ["mcp__aicr__report_problem", "report_problem"],
    ["aicr.report.problem", "report_problem"],
    ["Report-Problem", "report_problem"],
    ["aicr_skip", "skip"],
    ["reportproblem", undefined],
    ["noskip", undefined],
    ["report", undefined],
    ["", undefined],
    ["x_".repeat(200) + "skip", undefined]
  ] satisfies ReadonlyArray<readonly [string, string | undefined]>)("%s", (called, expected) => {
    assert.strictEqual(resolveToolName(called, offered), expected)
  })
})

describe("thinking", () => {
  it.each([
    [{}, undefined, {}, {}],
    [{ reasoning_effort: "max" }, "max", { effort: "max" }, { thinkingConfig: { thinkingLevel: "high" } }],
    [{ thinking_level: "off" }, "none", { thinking: { type: "disabled" } }, { thinkingConfig: { thinkingBudget: 0 } }],
    [
      { thinking_level: "minimal" },
      "minimal",
      { effort: "low", thinking: { type: "adaptive" } },
      { thinkingConfig: { thinkingLevel: "minimal" } }
    ],
    [
      { thinking_budget_tokens: 2048 },
      undefined,
      { thinking: { type: "enabled", budgetTokens: 2048 } },
      { thinkingConfig: { thinkingBudget: 2048 } }
    ]
  ] as const)("%j", (config, openai, anthropic, google) => {
    assert.strictEqual(openaiEffort(config), openai)
    assert.deepStrictEqual<unknown>(anthropicThinking(config), anthropic)
    assert.deepStrictEqual<unknown>(googleThinking(config), google)
  })
})

describe("providers", () => {
  it.each([
    ["https://api.anthropic.com", "https://api.anthropic.com/v1"],
    ["https://api.anthropic.com/v1/", "https://api.anthropic.com/v1"],
    ["https://gw.example/anthropic", "https://gw.example/anthropic/v1"],
    ["https://gw.example/v1beta", "https://gw.example/v1beta"]
  ])("%s", (given, expected) => assert.strictEqual(versioned(given, "/v1"), expected))

  it("reports per provider what cannot be reached", () => {
    const problems = providerProblems(
      testSnapshot(
        {
          llm: {
            providers: [
              { id: "fine", kind: "anthropic", api_key_env: "KEY" },
              { id: "local", kind: "ollama" },
              { id: "unset", kind: "anthropic", api_key_env: "ABSENT" },
              { id: "keyless", kind: "google_ai_studio" },
              { id: "nowhere", kind: "openai_compatible" },
              { id: "vertex", kind: "vertex_ai" }
            ]
          }
        },
        { KEY: "k-0123456789" }
      )
    )
    assert.deepStrictEqual(
      problems.map(({ path }) => path),
      ["llm.providers[2]", "llm.providers[3]", "llm.providers[4]", "llm.providers[5]"]
    )
    const texts = problems.map(({ reason }) => inEnglish(reason))
    assert.match(texts[0] ?? "", /ABSENT.*not set/)
    assert.match(texts[3] ?? "", /no credentials are configured/)
  })
})
