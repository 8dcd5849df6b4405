/** All attempts at one model: as often as the retry policy allows, until its time or the deadline of the call. */
import { Clock, Duration, Effect, Random } from "effect"
import type { ModelEntry } from "../config/schema/Llm.ts"
import { attemptModel } from "./AttemptModel.ts"
import type { GatewayServices } from "./AttemptModel.ts"
import type { Catalog } from "./catalog/Catalog.ts"
import { modelKey } from "./Chain.ts"
import { failure } from "./Failure.ts"
import type { Failure } from "./Failure.ts"
import type { GatewayAnswer, GatewayRequest } from "./Gateway.ts"
import type { ConfiguredModel } from "./ModelRequest.ts"
import type { ModelRun } from "./ModelRun.ts"
import { mayFit } from "./PromptSize.ts"
import { providerProblem } from "./Providers.ts"
import { providerSettings } from "./ProviderSettings.ts"
import { retryDelayMillis, retryPolicy } from "./RetryPolicy.ts"

/** Response of one model, without the failures of the models before it. */
export type ModelAnswer = Omit<GatewayAnswer, "fallbacks">

/** Fails with `timeout` at this point in time. */
export const until =
  (time: number | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Failure, R> =>
    time === undefined
      ? effect
      : Effect.flatMap(Clock.currentTimeMillis, (now) =>
          Effect.timeoutOrElse(effect, {
            duration: Duration.millis(Math.max(0, time - now)),
            orElse: () => Effect.fail(failure("timeout", "the time for this call is used up"))
          })
        )

/** Returns the model with its settings and its record. Fails if it cannot be called, or does not support this request. */
const configured = Effect.fnUntraced(function* (
  catalog: Catalog["Service"],
  request: GatewayRequest,
  entry: ModelEntry
): Effect.fn.Return<ConfiguredModel, Failure> {
  const { llm } = request.snapshot.document
  const config = llm.providers.find(({ id }) => id === entry.provider)
  if (config === undefined) return yield* Effect.fail(failure("not_configured", "no provider with this id"))
  const settings = providerSettings(config, request.snapshot)
  const problem = providerProblem(settings)
  if (problem !== undefined) return yield* Effect.fail(failure("not_configured", problem))
  const spec = yield* catalog.spec(llm, config, entry.model)
  const { contextWindow: window } = spec
  if (!mayFit(request, window)) {
    return yield* Effect.fail(failure("overflow", `the prompt cannot fit the context window of ${window} tokens`))
  }
  if (spec.toolCall === false && request.tools.length > 0) {
    return yield* Effect.fail(failure("invalid", "the model takes no tools, by its record in the catalog"))
  }
  return { entry, settings, spec }
})

export const callModel = Effect.fnUntraced(function* (
  services: GatewayServices,
  catalog: Catalog["Service"],
  request: GatewayRequest,
  entry: ModelEntry,
  deadline: number
): Effect.fn.Return<ModelAnswer, Failure, ModelRun> {
  const { llm } = request.snapshot.document
  const model = yield* configured(catalog, request, entry)
  const policy = retryPolicy(llm, model.settings.config.id)
  const started = yield* Clock.currentTimeMillis
  for (let number = 1; ; number++) {
    const giveUpAt = policy.giveUpMillis === undefined ? undefined : started + policy.giveUpMillis
    const outcome = yield* attemptModel(services, request, model).pipe(until(giveUpAt), Effect.result)
    if (outcome._tag === "Success") return outcome.success
    const failed = outcome.failure
    const wait = retryDelayMillis(policy, number, failed.retryAfterMillis, yield* Random.next)
    const now = yield* Clock.currentTimeMillis
    if (!failed.repeat || number >= policy.maxAttempts || now + wait >= Math.min(giveUpAt ?? deadline, deadline)) {
      return yield* Effect.fail(failed)
    }
    yield* Effect.logDebug("model call failed, retry scheduled").pipe(
      Effect.annotateLogs({ model: modelKey(model.entry), attempt: number, wait, reason: failed.message })
    )
    yield* Effect.sleep(Duration.millis(wait))
  }
})
