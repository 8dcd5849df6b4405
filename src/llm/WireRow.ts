/** Contract of a wire format: an API that agents speak. Each format is a row of one table (`WireFormats.ts`). */
import type { GatewayError, GatewayUsage, Message, ToolCall, ToolSpec } from "./Gateway.ts"
import type { PartialUsage } from "./calls/PartialUsage.ts"
import type { Thinking } from "./providers/Thinking.ts"
import type { RefusedField } from "./wire/shape/RefusedField.ts"
import type { WireJson } from "./wire/WireJson.ts"

/** A request in the terms of the gateway. */
export interface WireRequest {
  readonly system: string
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<ToolSpec>
  readonly toolChoice: "auto" | "required"
  /** Names of tools with which the provider would search the web. Other formats do not have them, and the request is sent without. */
  readonly searchTools: ReadonlyArray<string>
  /** Contents that other formats cannot express, in words. A request with one goes to providers of the same format only. */
  readonly unsupported: ReadonlyArray<string>
}

/** A request of which only what an agent may use is left. */
export interface RestrictedBody {
  readonly body: WireJson
  /** Names of removed tools that servers of providers would have executed. */
  readonly removed: ReadonlyArray<string>
  /** The first field, part or value that an agent may not use. */
  readonly refused?: RefusedField | undefined
}

/** Settings that replace those of the agent in a request that is passed through. */
export interface PassedSettings {
  readonly model: string
  readonly streams: boolean
  readonly maxOutputTokens: number
  /** Settings of the provider in the configuration; they take precedence over those of the agent. */
  readonly thinking: Thinking
  /** Whether the provider is OpenAI itself, whose newer models refuse `max_tokens`. */
  readonly isOpenAi: boolean
}

/** Reads what a provider of the same format responds, while its bytes are passed through. */
export interface WireReader {
  /** Reads one event of a stream, or a whole response. */
  readonly read: (piece: WireJson) => void
  readonly text: () => string
  readonly calls: () => ReadonlyArray<ToolCall>
  /** Characters of text, reasoning and tool input so far. */
  readonly characters: () => number
  readonly usage: () => WireUsage
  readonly isComplete: () => boolean
  readonly isCutOff: () => boolean
  /** Error that the provider reported in the response. */
  readonly error: () => WireError | undefined
}

export interface WireUsage extends PartialUsage {
  readonly reasoningTokens?: number
}

interface WireError {
  readonly status: number
  readonly message: string
}

/** End of a translated response. */
export interface WireEnd {
  readonly usage: GatewayUsage
  readonly isCutOff: boolean
}

/** Writes a response of the gateway as a stream of events. */
export interface WireEncoder {
  readonly begin: () => string
  readonly text: (delta: string) => string
  readonly call: (call: ToolCall) => string
  readonly end: (end: WireEnd) => string
  /** Event without meaning that keeps the connection busy; empty where clients do not accept one. */
  readonly ping: string
}

export interface WholeResponse extends WireEnd {
  readonly text: string
  readonly calls: ReadonlyArray<ToolCall>
}

export type WireFailureKind =
  | GatewayError["reason"]
  | "unauthorized_agent"
  | "not_found"
  | "too_large"
  | "busy"
  | "limit"

export interface WireFormatRow {
  readonly restrict: (body: WireJson, webSearch: boolean) => RestrictedBody
  readonly decode: (body: WireJson) => WireRequest
  readonly prepare: (body: WireJson, settings: PassedSettings) => WireJson
  readonly reader: () => WireReader
  /** `model` is the name that the agent requested. `request` is the decoded body. */
  readonly encoder: (model: string, body: WireJson) => WireEncoder
  readonly whole: (model: string, body: WireJson, response: WholeResponse) => unknown
  readonly error: (kind: WireFailureKind, message: string) => { readonly status: number; readonly body: unknown }
  /** Error in a stream that has begun. */
  readonly errorEvent: (kind: WireFailureKind, message: string) => string
}

export const sse = (data: unknown, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`
