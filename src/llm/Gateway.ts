/**
 * Gateway to language models: a chain of models that are tried in order, with its own retry policy, usage and cost. Providers are
 * rows of a table over the AI SDK, whose retries are disabled (`maxRetries: 0`).
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import type { Usage } from "../domain/Analysis.ts"
import { Usd } from "../domain/Money.ts"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"
import type { ModelRun } from "./ModelRun.ts"

/** A tool the model may call. `parameters` is JSON Schema. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface ToolCall {
  readonly id: string
  /**
   * The offered name if it can be determined (despite a server prefix, or swapped dots and underscores), else the name that the
   * model sent.
   */
  readonly name: string
  /** Input that the model sent, without validation. */
  readonly input: unknown
}

export type Message =
  | {
      readonly role: "user"
      readonly text: string
      /** Text before `text` that every call of a review shares. It is sent as a part of its own, which providers can cache. */
      readonly common?: string | undefined
    }
  | {
      readonly role: "assistant"
      readonly text: string
      readonly calls: ReadonlyArray<ToolCall>
      /** Opaque provider data of the response, which returns its own signed reasoning to the same model. */
      readonly native?: unknown
    }
  | {
      readonly role: "tool"
      readonly results: ReadonlyArray<{ readonly id: string; readonly name: string; readonly output: string }>
    }

export interface GatewayRequest {
  readonly snapshot: Snapshot
  /** Name of a group in llm.model_chain. */
  readonly group: string
  readonly role: "light" | "heavy" | "any"
  readonly system: string
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<ToolSpec>
  /** Milliseconds for the whole call with its retries and fallbacks, without the time that it waits for permits. */
  readonly deadlineMillis: number
  /** Milliseconds for which each provider may refuse the request, or grant it no permit. Default and maximum: 30 minutes. */
  readonly maxThrottledMillis?: number | undefined
  /** Whether the first refusal of a provider (429, 503, 529) ends the call, instead of waiting. Default: false. */
  readonly endsWhenRefused?: boolean | undefined
  /** `required` forces a tool call where the provider supports that. Default: `auto`. */
  readonly toolChoice?: "auto" | "required" | undefined
  /** True if the conversation may continue after the response, so that its end is worth a cache mark. */
  readonly continues?: boolean | undefined
  /** Whether the texts are those of an agent, which adds times to them. */
  readonly isOfAgent?: boolean | undefined
  /** Runs when the response begins: from then on the provider has cached the prompt. */
  readonly onBegin?: Effect.Effect<void> | undefined
  /** Receives the text of the response as it arrives. */
  readonly onText?: ((text: string) => void) | undefined
  /** Receives each tool call as soon as its input is complete, before the response is. The response repeats them all. */
  readonly onToolCall?: ((call: ToolCall) => Effect.Effect<void>) | undefined
  /** `provider/model` of the conversation, which is tried first. */
  readonly prefer?: string | undefined
  /** `provider/model` names to exclude, such as one that sent no valid tool calls. */
  readonly avoid?: ReadonlyArray<string> | undefined
}

export const GatewayUsage = Schema.Struct({
  inputTokens: Schema.Number,
  outputTokens: Schema.Number,
  /** Input tokens that were read from the provider's cache, and written to it. */
  cachedTokens: Schema.Number,
  cacheWriteTokens: Schema.Number,
  /** Part of the output tokens. */
  reasoningTokens: Schema.Number,
  /** Absent if the price is unknown. */
  costUsd: Schema.optional(Usd)
})
export type GatewayUsage = typeof GatewayUsage.Type

export interface GatewayResponse {
  /** `provider/model` of the response. */
  readonly model: string
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall>
  readonly usage: GatewayUsage
  /** True if the response ended at its limit of output tokens. */
  readonly isCutOff?: boolean | undefined
  /** Opaque data for the assistant message that repeats this response; only the gateway reads it. */
  readonly native: unknown
  /** Models that failed before, with the reasons. */
  readonly fallbacks: ReadonlyArray<Fallback>
}

/** A model that failed, with the class of its failure. */
export interface Fallback {
  readonly model: string
  readonly reason: GatewayError["reason"]
}

/** Returns the usage of one call as a review counts it. */
export const toUsage = ({ model, usage }: GatewayResponse): Usage => {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens, costUsd } = usage
  const amounts = {
    requests: 1,
    inputTokens,
    outputTokens,
    cachedTokens,
    ...(costUsd === undefined ? {} : { costUsd })
  }
  return { ...amounts, byModel: { [model]: { ...amounts, reasoningTokens } } }
}

export class GatewayError extends Schema.TaggedError<GatewayError>()("GatewayError", {
  /** `unavailable`, `rate_limited` and `timeout` are transient; the others need a change of configuration or request. */
  reason: Schema.Literals([
    "not_configured",
    "unauthorized",
    "rate_limited",
    "unavailable",
    "timeout",
    "overflow",
    "refused",
    "invalid",
    "budget",
    "unpriced"
  ]),
  /** Failure of each model, without secrets. */
  why: Reason,
  /** Next step of an operator; default: that of `reason`. */
  advice: Schema.optional(Reason),
  /** The server of a model cannot be reached. */
  isOutage: Schema.optional(Schema.Boolean),
  retryAfterMillis: Schema.optional(Schema.Int)
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

/** Fields of a failed call. */
export type GatewayFailure = Pick<GatewayError, "advice" | "isOutage" | "reason" | "retryAfterMillis" | "why">

/** Returns the failure with the failures of other models before its own. */
export const afterFailures = (
  before: ReadonlyArray<Reason>,
  { advice, isOutage, reason, retryAfterMillis, why }: GatewayFailure
): GatewayFailure => ({ advice, isOutage, reason, retryAfterMillis, why: joinFailures([...before, why]) })

/** Joins the failures of models, and next steps. */
export const joinFailures = (reasons: ReadonlyArray<Reason>): Reason => {
  const [first, ...others] = reasons
  return first !== undefined && others.length === 0 ? first : { _tag: "ModelsFailed", reasons }
}

/** Next steps of an operator by the class of a failure. */
export const gatewayAdvice: Readonly<Record<GatewayError["reason"], Reason>> = {
  unauthorized: { _tag: "CheckKey" },
  not_configured: { _tag: "CheckChain" },
  invalid: { _tag: "CheckModelName" },
  refused: { _tag: "CheckFilter" },
  overflow: { _tag: "CheckModelLimits" },
  budget: { _tag: "RaiseBudget" },
  unpriced: { _tag: "NamePrice" },
  rate_limited: { _tag: "CheckQuota" },
  unavailable: { _tag: "CheckProvider" },
  timeout: { _tag: "CheckTimeout" }
}

export class Gateway extends Context.Service<
  Gateway,
  { readonly call: (request: GatewayRequest) => Effect.Effect<GatewayResponse, GatewayError, ModelRun> }
>()("aicr/llm/Gateway") {}
