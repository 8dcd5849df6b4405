/**
 * Executes one attempt at a model: reuses a recorded response, else sends a request with a permit, a budget reservation and
 * evidence.
 */
import { Clock, Duration, Effect, Exit, Metric } from "effect"
import type { LlmProvider } from "../../config/schema/Llm.ts"
import type { Budget } from "../Budget.ts"
import type { CallTime } from "./CallTime.ts"
import { modelKey } from "./Chain.ts"
import { recordNative, restoreNative } from "./Conversation.ts"
import type { RecordedCall, Evidence } from "../Evidence.ts"
import { failure } from "./Failure.ts"
import type { Failure } from "./Failure.ts"
import type { GatewayResponse, GatewayRequest, GatewayUsage } from "../Gateway.ts"
import type { Limiter } from "../Limiter.ts"
import type { CallResult } from "../ProviderPermits.ts"
import { sendRequest } from "./ModelRequest.ts"
import type { ConfiguredModel, Connect } from "./ModelRequest.ts"
import { ModelRun } from "../ModelRun.ts"
import { promptCharacters } from "./PromptSize.ts"
import { Reception } from "./ResponseReader.ts"
import { retryPolicy } from "./RetryPolicy.ts"
import type { RetryPolicy } from "./RetryPolicy.ts"
import type { reusableResponses } from "./ReuseResponses.ts"
import { isLocalServer, silenceLimits } from "./Silence.ts"
import { receivedUsage, spending } from "./Spending.ts"
import * as Metrics from "../../observability/Metrics.ts"

/** Records metrics of one request to a model: outcome, duration, tokens and known cost by provider and model. */
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

/** Logs that a call still waits for its model: after one minute, then after two, four, eight, so that an operator sees what a review waits for. */

const firstMillis = 60_000

/** Never ends. `silence_limit_s` is the longest silence that the call tolerates at this moment. */
export const reportWait = Effect.fnUntraced(function* (
  model: string,
  receipt: Pick<Reception, "characters" | "hasReceived">,
  config: Pick<LlmProvider, "kind" | "base_url" | "timeout_ms">
): Effect.fn.Return<never> {
  const limits = silenceLimits(config)
  const since = yield* Clock.currentTimeMillis
  let waitedMillis = 0
  for (;;) {
    const pause = Math.max(firstMillis, waitedMillis)
    yield* Effect.sleep(Duration.millis(pause))
    waitedMillis += pause
    yield* Effect.logInfo("model has not ended its response yet", {
      model,
      since: new Date(since).toISOString(),
      waited_s: waitedMillis / 1000,
      received_characters: receipt.characters,
      silence_limit_s: (receipt.hasReceived ? limits.betweenMillis : limits.firstMillis) / 1000
    })
  }
})

/** Maximum wait of one request for a permit; the wait goes on with the next request. */
const permitMillis = 60_000

/** Response of one model, without the failures of the models before it. */
export type ModelResponse = Omit<GatewayResponse, "fallbacks">

/** Sends one request to a model. `receipt` counts what arrives, also if the call fails later. */
export type SendToModel = (
  request: GatewayRequest,
  model: ConfiguredModel,
  runId: string,
  receipt: Reception
) => Effect.Effect<ModelResponse, Failure>

export interface GatewayServices {
  readonly budget: Budget["Service"]
  readonly connect: Connect
  /** Replaces the request over the AI SDK. */
  readonly send?: SendToModel | undefined
  readonly evidence: Evidence["Service"]
  readonly limiter: Limiter["Service"]
  readonly logRefused: Effect.Effect<void>
  readonly reusable: ReturnType<typeof reusableResponses>
}

const recordedResponse = ({ text, calls, usage, native, isCutOff }: ModelResponse) => ({
  text,
  calls,
  usage,
  isCutOff,
  native: recordNative(native)
})

/** One attempt: a recorded response, or a permit, reserved money and a measured request. */
export const attemptModel = Effect.fnUntraced(function* (
  services: GatewayServices,
  request: GatewayRequest,
  model: ConfiguredModel,
  { maxPauseMillis, own, throttled, time }: AttemptTimes
) {
  const { reusable } = services
  const name = modelKey(model.entry)
  const run = yield* ModelRun
  const reused = yield* reusable.take(run, name, request)
  if (reused !== undefined) {
    const { text, calls, usage, native, isCutOff } = reused
    if (request.onBegin !== undefined) yield* request.onBegin
    if (request.onToolCall !== undefined) yield* Effect.forEach(calls, request.onToolCall, { discard: true })
    const cost = { ...usage, costUsd: usage.costUsd }
    return { model: name, text, calls, usage: cost, isCutOff, native: restoreNative(name, native) }
  }
  return yield* withPermit(
    services,
    request,
    model,
    { throttled, maxPauseMillis },
    sendMeasured(services, request, model, { own, time })
  )
})

/** Times that limit an attempt. */
interface AttemptTimes {
  /** Time that may pass without the provider accepting a request, permits included. */
  readonly throttled: CallTime
  /** Time of all attempts at this model, from the moment that a request is sent. */
  readonly own: CallTime
  /** Time of the call. The loading and queueing of a local server is no part of it. */
  readonly time: CallTime
  /** A longer pause of the provider ends the attempt. */
  readonly maxPauseMillis: number
}

/** Waits for a permit, and sends the request with it. The limits of the provider are learnt from the result. */
const withPermit = Effect.fnUntraced(function* (
  { limiter }: GatewayServices,
  request: GatewayRequest,
  model: ConfiguredModel,
  { maxPauseMillis, throttled }: Pick<AttemptTimes, "throttled" | "maxPauseMillis">,
  send: Effect.Effect<ModelResponse, Failure, ModelRun>
) {
  const { llm, queue } = request.snapshot.document
  const { id } = model.settings.config
  const { id: run, expectedCalls = 1 } = yield* ModelRun
  const rps = queue.rate_limit.per_provider_rps?.[id]
  const policy = retryPolicy(llm, id)
  while (true) {
    const since = yield* Clock.currentTimeMillis
    const maxWaitMillis = Math.min(permitMillis, maxPauseMillis, throttled.leftMillis)
    const outcome = yield* limiter.withPermit(
      id,
      { rps, run, expectedCalls, maxWaitMillis },
      Effect.andThen(throttled.deduct(since), send),
      (exit) => resultOf(exit, policy)
    )
    if (outcome._tag === "Ended") return outcome.value
    yield* throttled.deduct(since)
    const wait = Math.max(Math.ceil(outcome.retryAfterMillis), 1000)
    if (wait >= throttled.leftMillis || wait > maxPauseMillis)
      return yield* Effect.fail(failure("rate_limited", { _tag: "NoPermit" }, wait))
    yield* throttled.spend(Effect.sleep(Math.min(wait, permitMillis)))
  }
})

/** Returns what the end of a call shows about the limits of its provider. */
const resultOf = (
  exit: Exit.Exit<ModelResponse, Failure>,
  { countsRefusals, respectRetryAfter }: RetryPolicy
): CallResult => {
  if (Exit.isSuccess(exit)) {
    const { inputTokens, outputTokens } = exit.value.usage
    return { kind: "answered", tokens: inputTokens + outputTokens }
  }
  const [reason] = exit.cause.reasons
  if (reason?._tag !== "Fail") return { kind: "failed" }
  const { isThrottled, kind, retryAfterMillis } = reason.error
  const mayPause = respectRetryAfter && (kind === "rate_limited" || kind === "unavailable")
  const pause = mayPause ? retryAfterMillis : undefined
  // Where refusals are attempts, the waits are those of the configuration.
  return {
    kind: isThrottled ? "throttled" : "failed",
    retryAfterMillis: pause ?? (countsRefusals ? 0 : undefined),
    error: kind
  }
}

/** Adds the model of the request that is sent now to the span of the call, and how long the call waited until then. */
const annotateWait = (model: string, now: number): Effect.Effect<void> =>
  Effect.currentSpan.pipe(
    Effect.map((span) => {
      const since = Number(span.status.startTime / 1_000_000n)
      span.attribute("model", model)
      span.attribute("wait_ms", Math.max(0, now - since))
    }),
    Effect.ignore
  )

/** Sends the request with a budget reservation, and records what came of it. */
const sendMeasured = Effect.fnUntraced(function* (
  services: GatewayServices,
  request: GatewayRequest,
  model: ConfiguredModel,
  { own, time }: Pick<AttemptTimes, "own" | "time">
) {
  const { budget, connect, evidence, limiter } = services
  const { llm } = request.snapshot.document
  const { id } = model.settings.config
  const name = modelKey(model.entry)
  const run = yield* ModelRun
  const at = yield* Clock.currentTimeMillis
  yield* annotateWait(name, at)
  const receipt = new Reception()
  const characters = promptCharacters(request)
  const received = () => receivedUsage(receipt, model.spec, characters)
  const record = (outcome: RecordedCall["outcome"]) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      evidence.record({ run, model: name, at, millis: now - at, request, outcome })
    )
  const begun = queueTime(receipt, model.settings.config)
  const send = services.send?.(request, model, run.id, receipt) ?? sendRequest(connect, request, model, run.id, receipt)
  if (retryPolicy(llm, id).respectRetryAfter) {
    yield* Effect.forkScoped(
      Effect.flatMap(receipt.exhausted, (millis) => Effect.uninterruptible(limiter.pause(id, millis)))
    )
  }
  yield* Effect.forkScoped(reportWait(name, receipt, model.settings.config))
  if (request.onBegin !== undefined) yield* Effect.forkScoped(Effect.andThen(receipt.begun, request.onBegin))
  return yield* time.spend(own.spend(send as Effect.Effect<ModelResponse, Failure>), begun).pipe(
    Effect.ensuring(services.logRefused),
    spending(budget, llm, model.spec, characters, received),
    (counted) => measured({ provider: id, model: model.entry.model }, counted, received),
    Effect.tap((response) => record({ _tag: "Responded", response: recordedResponse(response) })),
    Effect.tapError(({ kind, why }) => record({ _tag: "Failed", kind, why, usage: received() })),
    Effect.onInterrupt(() =>
      record({ _tag: "Failed", kind: "aborted", why: { _tag: "CallAborted" }, usage: received() })
    )
  )
}, Effect.scoped)

/** Upper bound of the time in which a local server may load the model and work through its queue; its silence has its own limit. */
const maxQueueMillis = 6 * 3_600_000

/** Waits while a local server may still load the model or work through its queue, which is no time of the call. */
const queueTime = (receipt: Reception, config: LlmProvider): Effect.Effect<void> =>
  isLocalServer(config) ? Effect.raceFirst(receipt.begun, Effect.sleep(Duration.millis(maxQueueMillis))) : Effect.void
