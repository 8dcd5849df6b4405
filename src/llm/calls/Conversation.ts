/** Converts messages and responses between the gateway and the AI SDK. */
import { jsonSchema, tool } from "ai"
import type {
  AssistantModelMessage,
  LanguageModelUsage,
  ModelMessage,
  streamText,
  SystemModelMessage,
  ToolSet
} from "ai"
import type { ProviderOptions } from "@ai-sdk/provider-utils"
import type { GatewayRequest, GatewayUsage, Message, ToolSpec } from "../Gateway.ts"
import { recordBytes, restoreBytes, WireBytes } from "../wire/WireBytes.ts"
import type { ResponseReader } from "./ResponseReader.ts"

/** Tools without `execute`: the SDK makes one step and returns the calls. The caller that offered a tool validates its inputs. */
export const toTools = (specs: ReadonlyArray<ToolSpec>): ToolSet =>
  Object.fromEntries(
    specs.map((spec) => [
      spec.name,
      tool({ description: spec.description, inputSchema: jsonSchema<unknown>({ ...spec.parameters }) })
    ])
  )

/** Prompt of a call as the AI SDK receives it. */
interface ModelPrompt {
  readonly instructions: string | SystemModelMessage
  readonly messages: Array<ModelMessage>
}

/**
 * `mark` tags the ends of cacheable prefixes for the provider: the system text (after the tools), the part that all calls of a
 * review share, and the conversation so far if it may continue. Without a mark the shared part and the message are one text, which
 * every server accepts and which caches of prefixes recognise as well.
 */
export const toPrompt = (request: GatewayRequest, model: string, mark: ProviderOptions | undefined): ModelPrompt => {
  const messages = request.messages.map((message) => toModelMessage(message, model, mark))
  if (mark === undefined) return { instructions: request.system, messages }
  const last = request.continues === true ? messages.pop() : undefined
  if (last !== undefined) messages.push({ ...last, providerOptions: mark })
  return { instructions: { role: "system", content: request.system, providerOptions: mark }, messages }
}

const toModelMessage = (message: Message, model: string, mark: ProviderOptions | undefined): ModelMessage => {
  switch (message.role) {
    case "user": {
      const { common, text } = message
      if (common === undefined) return { role: "user", content: text }
      if (mark === undefined) return { role: "user", content: `${common}\n\n${text}` }
      return {
        role: "user",
        content: [
          { type: "text", text: common, providerOptions: mark },
          { type: "text", text }
        ]
      }
    }
    case "tool":
      return {
        role: "tool",
        content: message.results.map(({ id, name, output }) => ({
          type: "tool-result",
          toolCallId: id,
          toolName: name,
          output: { type: "text", value: output }
        }))
      }
    case "assistant":
      return nativeContent(message, model) ?? plainTurn(message)
  }
}

type ResponseMessages = Awaited<ReturnType<typeof streamText<ToolSet>>["responseMessages"]>
type AssistantTurn = Extract<Message, { readonly role: "assistant" }>
type AssistantParts = Exclude<AssistantModelMessage["content"], string>

/** A model's response in its provider's own form, such as signed reasoning, which no other model can use. */
class NativeTurn {
  readonly model: string
  readonly content: AssistantParts
  constructor(model: string, content: AssistantParts) {
    this.model = model
    this.content = content
  }
}

/** Returns the own form of the response with the calls of the turn: each by its offered name, and without those that are not repeated. */
const nativeContent = (turn: AssistantTurn, model: string): AssistantModelMessage | undefined => {
  if (!(turn.native instanceof NativeTurn) || turn.native.model !== model) return undefined
  const named = new Map(turn.calls.map(({ id, name }) => [id, name]))
  const content: AssistantParts = []
  for (const part of turn.native.content) {
    const name = part.type === "tool-call" ? named.get(part.toolCallId) : undefined
    if (part.type !== "tool-call" || part.providerExecuted === true) content.push(part)
    else if (name !== undefined) content.push({ ...part, toolName: name, input: toInput(part.input) })
  }
  return { role: "assistant", content }
}

// A call that the SDK could not parse has an error result of the SDK in a message of its own.
const nativeTurn = ([message]: ResponseMessages, model: string): NativeTurn | undefined =>
  message?.role !== "assistant" || typeof message.content === "string"
    ? undefined
    : new NativeTurn(model, message.content)

/** Providers refuse arguments that are not an object; the record of the call keeps the original. */
const toInput = (input: unknown): unknown =>
  typeof input === "object" && input !== null && !Array.isArray(input) ? input : {}

/** Encodes as JSON the parts of a response that the plain form lacks: reasoning, and additions of the provider. */
export const recordNative = (native: unknown): unknown =>
  native instanceof WireBytes
    ? recordBytes(native)
    : native instanceof NativeTurn &&
        native.content.some(
          (part) => (part.type !== "text" && part.type !== "tool-call") || part.providerOptions !== undefined
        )
      ? native.content
      : undefined

/** Decodes it again, for the model of the response. */
export const restoreNative = (model: string, content: unknown): unknown =>
  Array.isArray(content) ? new NativeTurn(model, content) : restoreBytes(content)

const plainTurn = (turn: AssistantTurn): AssistantModelMessage => ({
  role: "assistant",
  content: [
    ...(turn.text === "" ? [] : [{ type: "text" as const, text: turn.text }]),
    ...turn.calls.map((call) => ({
      type: "tool-call" as const,
      toolCallId: call.id,
      toolName: call.name,
      input: toInput(call.input)
    }))
  ]
})

/** Usage that a provider does not report counts as 0: it cannot be charged. */
export const toTokens = (usage: LanguageModelUsage | undefined): Omit<GatewayUsage, "costUsd"> => ({
  inputTokens: usage?.inputTokens ?? 0,
  outputTokens: usage?.outputTokens ?? 0,
  cachedTokens: usage?.inputTokenDetails.cacheReadTokens ?? 0,
  cacheWriteTokens: usage?.inputTokenDetails.cacheWriteTokens ?? 0,
  reasoningTokens: usage?.outputTokenDetails.reasoningTokens ?? 0
})

export const toResponse = (reader: ResponseReader, messages: ResponseMessages, model: string) => ({
  model,
  text: reader.text,
  calls: reader.calls,
  native: nativeTurn(messages, model),
  usage: toTokens(reader.usage),
  ...(reader.finishReason === "length" ? { isCutOff: true } : {})
})
