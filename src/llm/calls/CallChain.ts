/**
 * One call of the gateway: tries the models of a chain (CallModel.ts), classifies failures (Failure.ts), and returns the first response.
 * All attempts at one model are bounded by `give_up_after_seconds`, the whole call by the request's deadline; interrupting the call
 * aborts the request.
 */
import { Effect, Metric } from "effect"
import type { GatewayServices } from "./AttemptModel.ts"
import { callModel } from "./CallModel.ts"
import { CallTime } from "./CallTime.ts"
import type { Catalog } from "../Catalog.ts"
import * as Metrics from "../../observability/Metrics.ts"
import type { ModelEntry } from "../../config/schema/Llm.ts"
import { candidates, modelKey } from "./Chain.ts"
import type { Failure } from "./Failure.ts"
import { gatewayAdvice, GatewayError, joinFailures } from "../Gateway.ts"
import type { GatewayRequest } from "../Gateway.ts"

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

const logFailure = (
  entry: ModelEntry,
  { kind, why, advice = gatewayAdvice[kind] }: Failure,
  next: ModelEntry | undefined
) => {
  const fields = { model: modelKey(entry), kind, reason: why, advice }
  return next === undefined
    ? Effect.logWarning("call of a model failed, and no other model of its chain is called", fields)
    : Effect.logWarning("fell back from a model", { ...fields, next: modelKey(next) })
}

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
      yield* Effect.annotateCurrentSpan({ model: modelKey(entry), fallbacks: failures.length })
      return {
        ...outcome.success,
        fallbacks: failures.map(({ model, failed }) => ({ model, reason: failed.kind }))
      }
    }
    failures.push({ model: modelKey(entry), failed: outcome.failure })
    const next = outcome.failure.next && time.leftMillis > 0 ? chain[at + 1] : undefined
    yield* logFailure(entry, outcome.failure, next)
    if (next === undefined) break
    const labels = { provider: entry.provider, model: entry.model, reason: outcome.failure.kind }
    yield* Metric.update(Metric.withAttributes(Metrics.modelFallbacks, labels), 1)
  }
  return yield* exhausted(failures)
})
