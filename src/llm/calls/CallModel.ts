/** All attempts at one model: as often as the retry policy allows, until its time or the deadline of the call. */
import { Duration, Effect, Metric, Random } from "effect"
import type { ModelEntry } from "../../config/schema/Llm.ts"
import { attemptModel } from "./AttemptModel.ts"
import type { GatewayServices, ModelResponse } from "./AttemptModel.ts"
import type { Catalog } from "../Catalog.ts"
import { CallTime } from "./CallTime.ts"
import { limitWarning } from "../../observability/LimitedWarnings.ts"
import * as Metrics from "../../observability/Metrics.ts"
import { modelKey } from "./Chain.ts"
import { failure } from "./Failure.ts"
import type { Failure } from "./Failure.ts"
import type { GatewayRequest } from "../Gateway.ts"
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

export const callModel = Effect.fnUntraced(function* (
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
