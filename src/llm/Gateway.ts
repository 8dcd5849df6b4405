/**
 * The way to language models: a chain of models tried in order, our own retry policy, usage and cost. Providers are rows of
 * a table over the AI SDK; its retries are off (`maxRetries: 0`).
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import type { Usage } from "../domain/Analysis.ts"
import type { Usd } from "../domain/Money.ts"
import type { ModelRun } from "./ModelRun.ts"

/** A tool the model may call. `parameters` is JSON Schema. */
export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface ToolCall {
  readonly id: string
  /** The offered name where it can be told which is meant (a server prefix, swapped dots and underscores), else as sent. */
  readonly name: string
  /** As the model sent it; may be anything. */
  readonly input: unknown
}

export type Message =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant"
      readonly text: string
      readonly calls: ReadonlyArray<ToolCall>
      /** As the answer carried it, opaque: lets the same model see its own signed reasoning again. */
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
  /** Milliseconds for the whole call with its retries and fallbacks. */
  readonly deadlineMillis: number
  /** `provider/model` that holds the conversation: asked first. */
  readonly prefer?: string | undefined
  /** `provider/model` names to leave out, such as one whose answers were no valid tool calls. */
  readonly avoid?: ReadonlyArray<string> | undefined
}

export interface GatewayUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Of the input: read from the provider's cache, and written to it. */
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  /** Of the output. */
  readonly reasoningTokens: number
  /** undefined when the price is unknown. */
  readonly costUsd: Usd | undefined
}

export interface GatewayAnswer {
  /** `provider/model` that answered. */
  readonly model: string
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall>
  readonly usage: GatewayUsage
  /** To be put into the assistant message that repeats this answer; only the gateway reads it. */
  readonly native: unknown
  /** Models that were tried before and why each was left. */
  readonly fallbacks: ReadonlyArray<{ readonly model: string; readonly reason: string }>
}

/** Returns the usage of one call as a review counts it. */
export const toUsage = ({ usage: { inputTokens, outputTokens, cachedTokens, costUsd } }: GatewayAnswer): Usage => ({
  requests: 1,
  inputTokens,
  outputTokens,
  cachedTokens,
  ...(costUsd === undefined ? {} : { costUsd })
})

export class GatewayError extends Schema.TaggedError<GatewayError>()("GatewayError", {
  /** `unavailable`, `rate_limited`, `timeout` may pass later; the others need somebody to change something. */
  reason: Schema.Literals([
    "not_configured",
    "unauthorized",
    "rate_limited",
    "unavailable",
    "timeout",
    "overflow",
    "refused",
    "invalid",
    "budget"
  ]),
  /** Per model tried, without secrets. */
  message: Schema.String,
  retryAfterMillis: Schema.optional(Schema.Int)
}) {}

export class Gateway extends Context.Service<
  Gateway,
  { readonly call: (request: GatewayRequest) => Effect.Effect<GatewayAnswer, GatewayError, ModelRun> }
>()("aicr/llm/Gateway") {}
