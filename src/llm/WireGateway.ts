/**
 * Contract of the second front of the gateway: calls of agents that speak the API of a provider. They take the same permits, reservations
 * and chains as calls of the gateway. The model of a chain with the same API gets the request unchanged but for credentials, the name of the
 * model, limits and server tools; for others, request and response are translated.
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"
import type { GatewayError, GatewayResponse, GatewayUsage, ToolCall } from "./Gateway.ts"
import type { ModelRun } from "./ModelRun.ts"

/** API that an agent CLI speaks. Its paths are those of the provider, for example `/v1/chat/completions`. */
export type WireFormat = "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini"

/** Receives the response for the agent. */
export interface WireSink {
  /** Runs before the first byte. From then on, no other model is called. */
  readonly begin: (contentType: string) => void
  /** Settles when the agent can take more. */
  readonly write: (bytes: Uint8Array | string) => Promise<void>
}

/**
 * Own forms of earlier responses of the same pass, such as signed reasoning, which their models require in later requests. The formats of
 * agents cannot express them, so they are found by the calls of a response.
 */
export class WireMemory {
  readonly #turns = new Map<string, { readonly ids: string; readonly native: unknown }>()

  add(calls: ReadonlyArray<ToolCall>, native: unknown): void {
    const [first] = calls
    if (first === undefined || native === undefined) return
    this.#turns.set(first.id, { ids: idsOf(calls), native })
    for (const [oldest] of this.#turns) {
      if (this.#turns.size <= maxTurns) break
      this.#turns.delete(oldest)
    }
  }
  /** Returns the own form of the response with exactly these calls. */
  find(calls: ReadonlyArray<ToolCall>): unknown {
    const turn = this.#turns.get(calls[0]?.id ?? "")
    return turn?.ids === idsOf(calls) ? turn.native : undefined
  }
}

const maxTurns = 500
const idsOf = (calls: ReadonlyArray<ToolCall>): string => JSON.stringify(calls.map(({ id }) => id))

/** Reason for which a tool of the provider was removed: no agent may use it here, or the API of the configured provider does not have it. */
export type RemovalReason = "not_permitted" | "not_translatable"

export interface WireCall {
  readonly snapshot: Snapshot
  /** Name of a group in llm.model_chain. */
  readonly group: string
  readonly role: "light" | "heavy" | "any"
  readonly format: WireFormat
  /** Body that the agent sent. */
  readonly body: Readonly<Record<string, unknown>>
  readonly streams: boolean
  /** Name of the model that the agent requested, for the response. */
  readonly model: string
  /** Headers of the agent that its provider may get. */
  readonly headers: Readonly<Record<string, string>>
  readonly webSearch: boolean
  readonly deadlineMillis: number
  /** `provider/model` of the conversation, which is tried first. */
  readonly prefer?: string | undefined
  readonly memory: WireMemory
  readonly sink: WireSink
  /** Called once for each response, also for one that ended early. */
  readonly onUsage: (model: string, usage: GatewayUsage) => void
  /** Called with the names of tools that were removed from the request. */
  readonly onRemoved: (reason: RemovalReason, names: ReadonlyArray<string>) => void
}

export interface WireModels {
  /** `provider/model`, in the order in which they are tried. */
  readonly models: ReadonlyArray<string>
  /** Smallest limits in tokens. Undefined if unknown for one of them. */
  readonly contextWindow: number | undefined
  readonly maxOutputTokens: number | undefined
}

export class WireGateway extends Context.Service<
  WireGateway,
  {
    /** Fails with `invalid` if the request refers to something outside of it. After a failure the response may have begun. */
    readonly call: (
      call: WireCall
    ) => Effect.Effect<Pick<GatewayResponse, "model" | "fallbacks">, GatewayError, ModelRun>
    readonly models: (request: Pick<WireCall, "snapshot" | "group" | "role">) => Effect.Effect<WireModels, GatewayError>
  }
>()("aicr/llm/WireGateway") {}
