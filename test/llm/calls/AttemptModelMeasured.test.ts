import { assert, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { Usd } from "../../../src/domain/Money.ts"
import { failure } from "../../../src/llm/calls/Failure.ts"
import { measured } from "../../../src/llm/calls/AttemptModel.ts"

const labels = { provider: "p", model: "m" }
const usage = {
  inputTokens: 100,
  cachedTokens: 40,
  cacheWriteTokens: 0,
  outputTokens: 7,
  reasoningTokens: 0,
  costUsd: Usd.make(0.25)
}

it.effect("requests, tokens and cost are counted by provider and model", () =>
  Effect.gen(function* () {
    yield* measured(labels, Effect.succeed({ usage }))
    yield* measured(labels, Effect.succeed({ usage: { ...usage, costUsd: undefined } }))
    yield* Effect.ignore(measured(labels, Effect.fail(failure("rate_limited", { _tag: "NoPermit" }))))
    const text = yield* PrometheusMetrics.format()
    const lines = text.split("\n").filter((line) => line.startsWith("aicr_llm_") && !line.includes("duration"))
    assert.deepStrictEqual(lines.toSorted(), [
      'aicr_llm_cost_usd_total{provider="p",model="m"} 0.25',
      'aicr_llm_requests_total{provider="p",model="m",outcome="answered"} 2',
      'aicr_llm_requests_total{provider="p",model="m",outcome="rate_limited"} 1',
      'aicr_llm_tokens_total{provider="p",model="m",direction="cached"} 80',
      'aicr_llm_tokens_total{provider="p",model="m",direction="input"} 120',
      'aicr_llm_tokens_total{provider="p",model="m",direction="output"} 14'
    ])
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
)
