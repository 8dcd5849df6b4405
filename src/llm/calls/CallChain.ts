/**
 * One call of the gateway: tries the models of a chain, classifies failures (Failure.ts), and returns the first response.
 * All attempts at one model are bounded by `give_up_after_seconds`, the whole call by the request's deadline; interrupting the call
 * aborts the request.
 */
import { Effect, Metric, Duration, Random } from "effect"
import type { GatewayServices, ModelResponse } from "./AttemptModel.ts"
import { CallTime } from "./CallTime.ts"
import type { Catalog } from "../Catalog.ts"
import * as Metrics from "../../observability/Metrics.ts"
import type { ModelEntry } from "../../config/schema/Llm.ts"
import { candidates, modelKey } from "./Chain.ts"
import type { Failure } from "./Failure.ts"
import { gatewayAdvice, GatewayError, joinFailures } from "../Gateway.ts"
import type { GatewayRequest } from "../Gateway.ts"
import { attemptModel } from "./AttemptModel.ts"
import { limitWarning } from "../../observability/LimitedWarnings.ts"
import { failure } from "./Failure.ts"
import type { ConfiguredModel } from "./ModelRequest.ts"
import type { ModelRun } from "../ModelRun.ts"
import { mayFit } from "./PromptSize.ts"
import { providerProblem } from "../providers/Providers.ts"
import { providerSettings } from "../providers/ProviderSettings.ts"
import { retryDelayMillis, retryPolicy } from "./RetryPolicy.ts"

/** Returns the model with its settings and its record. Fails if it cannot be called, or does not support this request. */
const configured = Effect.fnUntraced(function* (
  catalog: Catalog["Service"],
  request: GatewayRequest,
  entry: ModelEntry
): Effect.fn.Return<ConfiguredModel, Failure> {
  const { llm } = request.snapshot.document
  const config = llm.providers.find(({ id }) => id === entry.provider)
  if (config === undefined) return yield* Effect.fail(failure("not_configured", { _tag: "ProviderUnknown" }))
  const settings = providerSettings(config, request.snapshot)
  const problem = providerProblem(settings)
  if (problem !== undefined) return yield* Effect.fail(failure("not_configured", problem))
  const spec = yield* catalog.spec(llm, config, entry.model)
  const { contextWindow: window } = spec
  if (!mayFit(request, window)) {
    return yield* Effect.fail(failure("overflow", { _tag: "PromptTooLong", count: window ?? 0 }))
  }
  if (spec.toolCall === false && request.tools.length > 0) {
    return yield* Effect.fail(failure("invalid", { _tag: "TakesNoTools" }))
  }
  return { entry, settings, spec }
})

/** Maximum time for which a provider may refuse all requests of a call, or grant it no permit. */
const maxThrottledMillis = 30 * 60_000
/** A longer pause of the provider makes the call use the next model of its chain. */
const maxWaitWithFallback = 30_000

/** All attempts at one model: as often as the retry policy allows, until its time or the deadline of the call. */
const callModel = Effect.fnUntraced(function* (
  services: GatewayServices,
  catalog: Catalog["Service"],
  request: GatewayRequest,
  entry: ModelEntry,
  { hasNext, time }: { readonly hasNext: boolean; readonly time: CallTime }
): Effect.fn.Return<ModelResponse, Failure, ModelRun> {
  const { llm } = request.snapshot.document
  const model = yield* time.spend(configured(catalog, request, entry))
  const policy = retryPolicy(llm, model.settings.config.id)
  const own = new CallTime(policy.giveUpMillis ?? Number.POSITIVE_INFINITY)
  const throttled = new CallTime(Math.min(request.maxThrottledMillis ?? maxThrottledMillis, maxThrottledMillis), own)
  const maxPauseMillis = hasNext ? maxWaitWithFallback : Number.POSITIVE_INFINITY
  const attempt = { throttled, own, time, maxPauseMillis }
  for (let number = 1, refusals = 0; ;) {
    const outcome = yield* attemptModel(services, request, model, attempt).pipe(Effect.result)
    if (outcome._tag === "Success") return outcome.success
    const failed = outcome.failure
    if (failed.isThrottled && request.endsWhenRefused === true) return yield* Effect.fail(failed)
    if (failed.isThrottled) {
      const isLast = ++refusals >= policy.maxAttempts
      const pause = failed.retryAfterMillis ?? 0
      const endsHere = throttled.leftMillis <= pause || (hasNext && (isLast || pause > maxWaitWithFallback))
      if (!policy.countsRefusals || endsHere) yield* reportRefusal(model, failed)
      if (endsHere) return yield* Effect.fail(failed)
      // The limiter decides when the request is sent again.
      if (!policy.countsRefusals) continue
    }
    const wait = retryDelayMillis(policy, number, failed.retryAfterMillis, yield* Random.next)
    if (!failed.repeat || number >= policy.maxAttempts || wait >= Math.min(own.leftMillis, time.leftMillis)) {
      return yield* Effect.fail(failed)
    }
    number++
    const labels = { provider: model.entry.provider, model: model.entry.model, reason: failed.kind }
    yield* Metric.update(Metric.withAttributes(Metrics.modelRetries, labels), 1)
    const fields = { model: modelKey(model.entry), attempt: number, wait, reason: failed.why }
    yield* limitWarning(`failed ${model.entry.provider}`, (suppressed) =>
      Effect.logWarning("model call failed, retry scheduled", { ...fields, suppressed })
    )
    yield* time.spend((failed.isThrottled ? throttled : own).spend(Effect.sleep(Duration.millis(wait))))
  }
})

const reportRefusal = ({ entry }: ConfiguredModel, { retryAfterMillis, why }: Failure): Effect.Effect<void> =>
  limitWarning(`throttled ${entry.provider}`, (suppressed) =>
    Effect.logWarning("requests refused by a provider, they wait", {
      model: modelKey(entry),
      reason: why,
      retryAfterMillis,
      suppressed
    })
  )

/** A model of the chain without a response. */
interface FailedModel {
  readonly model: string
  readonly failed: Failure
}

const noModel = (request: GatewayRequest): GatewayError =>
  request.avoid !== undefined && request.avoid.length > 0
    ? new GatewayError({ reason: "invalid", why: { _tag: "GroupUsedUp", group: request.group } })
    : new GatewayError({
        reason: "not_configured",
        why: { _tag: "GroupUnknown", group: request.group }
      })

/**
 * A transient reason takes precedence, because a later retry of the chain may then succeed. A model without a price counts only where the
 * chain has no other.
 */
const exhausted = (failures: ReadonlyArray<FailedModel>): GatewayError => {
  const transient = failures.filter(({ failed }) => ["rate_limited", "unavailable", "timeout"].includes(failed.kind))
  const last = transient[0] ?? failures.findLast(({ failed }) => failed.kind !== "unpriced") ?? failures.at(-1)
  const waits = transient.flatMap(({ failed }) =>
    failed.retryAfterMillis === undefined ? [] : [failed.retryAfterMillis]
  )
  const advice = failures.find(({ failed }) => failed.advice !== undefined)?.failed.advice
  return new GatewayError({
    reason: last?.failed.kind ?? "not_configured",
    why: joinFailures(failures.map(({ model, failed }) => ({ _tag: "ModelFailed", model, reason: failed.why }))),
    ...(advice === undefined ? {} : { advice }),
    ...(transient.some(({ failed }) => failed.isOutage === true) ? { isOutage: true } : {}),
    ...(waits.length === 0 ? {} : { retryAfterMillis: Math.ceil(Math.min(...waits)) })
  })
}

const logFailedModel = (
  entry: ModelEntry,
  { kind, why, advice = gatewayAdvice[kind] }: Failure,
  next: ModelEntry | undefined
) => {
  const fields = { model: modelKey(entry), kind, reason: why, advice }
  return next === undefined
    ? Effect.logWarning("call of a model failed, and no other model of its chain is called", fields)
    : Effect.logWarning("fell back from a model", { ...fields, next: modelKey(next) })
}

const usageAttributes = ({ model, usage }: ModelResponse) => ({
  model,
  input_tokens: usage.inputTokens,
  cached_tokens: usage.cachedTokens,
  output_tokens: usage.outputTokens,
  ...(usage.costUsd === undefined ? {} : { cost_usd: usage.costUsd })
})

export const callChain = Effect.fn("llm.call")(function* (
  services: GatewayServices,
  catalog: Catalog["Service"],
  request: GatewayRequest
) {
  const chain = candidates(request.snapshot.document.llm, request)
  if (chain.length === 0) return yield* noModel(request)
  const time = new CallTime(request.deadlineMillis)
  const failures: Array<FailedModel> = []
  for (const [at, entry] of chain.entries()) {
    const hasNext = at < chain.length - 1
    const outcome = yield* callModel(services, catalog, request, entry, { hasNext, time }).pipe(Effect.result)
    if (outcome._tag === "Success") {
      yield* Effect.annotateCurrentSpan({ ...usageAttributes(outcome.success), fallbacks: failures.length })
      return {
        ...outcome.success,
        fallbacks: failures.map(({ model, failed }) => ({ model, reason: failed.kind }))
      }
    }
    failures.push({ model: modelKey(entry), failed: outcome.failure })
    const next = outcome.failure.next && time.leftMillis > 0 ? chain[at + 1] : undefined
    yield* logFailedModel(entry, outcome.failure, next)
    if (next === undefined) break
    const labels = { provider: entry.provider, model: entry.model, reason: outcome.failure.kind }
    yield* Metric.update(Metric.withAttributes(Metrics.modelFallbacks, labels), 1)
  }
  return yield* exhausted(failures)
})
