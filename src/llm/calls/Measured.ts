/** Records metrics of one request to a model: outcome, duration, tokens and known cost by provider and model. */
import { Clock, Effect, Metric } from "effect"
import * as Metrics from "../../observability/Metrics.ts"
import type { Failure } from "./Failure.ts"
import type { GatewayUsage } from "../Gateway.ts"

export const measured = <A extends { readonly usage: GatewayUsage }, R>(
  labels: { readonly provider: string; readonly model: string },
  request: Effect.Effect<A, Failure, R>,
  /** Usage of a call that ended early. */
  received: () => GatewayUsage | undefined = () => undefined
): Effect.Effect<A, Failure, R> =>
  Effect.gen(function* () {
    const began = yield* Clock.currentTimeMillis
    const result = yield* Effect.result(request)
    const seconds = ((yield* Clock.currentTimeMillis) - began) / 1000
    const outcome = result._tag === "Success" ? "answered" : result.failure.kind
    const count = (metric: Metric.Counter<number>, amount: number, more: Record<string, string> = {}) =>
      Metric.update(Metric.withAttributes(metric, { ...labels, ...more }), amount)
    yield* count(Metrics.modelRequests, 1, { outcome })
    yield* Metric.update(Metric.withAttributes(Metrics.modelDuration, labels), seconds)
    const usage = result._tag === "Success" ? result.success.usage : received()
    if (usage !== undefined) {
      const { inputTokens, outputTokens, cachedTokens, costUsd } = usage
      yield* count(Metrics.modelTokens, inputTokens - cachedTokens, { direction: "input" })
      yield* count(Metrics.modelTokens, cachedTokens, { direction: "cached" })
      yield* count(Metrics.modelTokens, outputTokens, { direction: "output" })
      if (costUsd !== undefined) yield* count(Metrics.modelCost, costUsd)
    }
    return yield* Effect.fromResult(result)
  })
