/**
 * Executes one attempt at a model: reuses a recorded response, else sends a request with a permit, a budget reservation and
 * evidence.
 */
import { Clock, Effect } from "effect"
import type { Budget } from "./Budget.ts"
import { modelKey } from "./Chain.ts"
import { recordNative, restoreNative } from "./Conversation.ts"
import type { AskedModel, Evidence } from "./Evidence.ts"
import { failure } from "./Failure.ts"
import type { GatewayAnswer, GatewayRequest } from "./Gateway.ts"
import type { Limiter } from "./Limiter.ts"
import { measured } from "./Measured.ts"
import { sendRequest } from "./ModelRequest.ts"
import type { ConfiguredModel, Connect } from "./ModelRequest.ts"
import { ModelRun } from "./ModelRun.ts"
import { promptCharacters } from "./PromptSize.ts"
import { retryPolicy } from "./RetryPolicy.ts"
import type { reusableAnswers } from "./ReuseAnswers.ts"
import { spending } from "./Spending.ts"

/** Maximum wait for a permit of a provider; for a longer wait the next model is tried, or the review is requeued. */
const permitMillis = 60_000

export interface GatewayServices {
  readonly budget: Budget["Service"]
  readonly connect: Connect
  readonly evidence: Evidence["Service"]
  readonly limiter: Limiter["Service"]
  readonly reusable: ReturnType<typeof reusableAnswers>
}

const recordedAnswer = ({ text, calls, usage, native }: Omit<GatewayAnswer, "fallbacks">) => ({
  text,
  calls,
  usage,
  native: recordNative(native)
})

/** One attempt: a permit, reserved money, a measured request. A pause that the provider requests applies to all calls. */
export const attemptModel = Effect.fnUntraced(function* (
  services: GatewayServices,
  request: GatewayRequest,
  model: ConfiguredModel
) {
  const { budget, connect, evidence, limiter, reusable } = services
  const { llm, queue } = request.snapshot.document
  const { id } = model.settings.config
  const name = modelKey(model.entry)
  const run = yield* ModelRun
  const reused = yield* reusable.take(run, name, request)
  if (reused !== undefined) {
    const { text, calls, usage, native } = reused
    const cost = { ...usage, costUsd: usage.costUsd }
    return { model: name, text, calls, usage: cost, native: restoreNative(name, native) }
  }
  const rps = queue.rate_limit.per_provider_rps?.[id]
  const permit = yield* limiter.acquire({ provider: id, rps, run: run.id, maxWaitMillis: permitMillis })
  if (permit._tag === "Later") {
    const message = "the provider requested a pause, or too many requests are waiting for it"
    return yield* Effect.fail(failure("rate_limited", message, Math.max(permit.retryAfterMillis, 1000)))
  }
  const at = yield* Clock.currentTimeMillis
  const record = (outcome: AskedModel["outcome"]) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      evidence.record({ run, model: name, at, millis: now - at, request, outcome })
    )
  return yield* sendRequest(connect, request, model).pipe(
    spending(budget, llm, model.spec, promptCharacters(request)),
    (counted) => measured({ provider: id, model: model.entry.model }, counted),
    Effect.tap((answer) => record({ _tag: "Answered", answer: recordedAnswer(answer) })),
    Effect.tapError(({ kind, message }) => record({ _tag: "Failed", kind, message })),
    Effect.tapError(({ kind, retryAfterMillis }) =>
      retryAfterMillis !== undefined &&
      (kind === "rate_limited" || kind === "unavailable") &&
      retryPolicy(llm, id).respectRetryAfter
        ? limiter.pause(id, retryAfterMillis)
        : Effect.void
    )
  )
})
