/** Converts messages and responses between the gateway and the AI SDK. */
import { jsonSchema, tool } from "ai"
import type { AssistantModelMessage, generateText, ModelMessage, SystemModelMessage, ToolSet } from "ai"
import type { ProviderOptions } from "@ai-sdk/provider-utils"
import type { GatewayAnswer, GatewayRequest, Message, ToolSpec } from "./Gateway.ts"
import { resolveToolName } from "./ToolNames.ts"

/** Tools without `execute`: the SDK makes one step and returns the calls. The caller that offered a tool validates its inputs. */
export const toTools = (specs: ReadonlyArray<ToolSpec>): ToolSet =>
  Object.fromEntries(
    specs.map((spec) => [
      spec.name,
      tool({ description: spec.description, inputSchema: jsonSchema<unknown>({ ...spec.parameters }) })
    ])
  )

/** `mark` tags the end of the cacheable prefix for the provider: the system text, and the conversation so far. */
export const toPrompt = (
  request: GatewayRequest,
  model: string,
  mark: ProviderOptions | undefined
): { readonly instructions: string | SystemModelMessage; readonly messages: Array<ModelMessage> } => {
  const messages = toMessages(request, model)
  if (mark === undefined) return { instructions: request.system, messages }
  const last = messages.pop()
  if (last !== undefined) messages.push({ ...last, providerOptions: mark })
  return { instructions: { role: "system", content: request.system, providerOptions: mark }, messages }
}

const toMessages = (request: GatewayRequest, model: string): Array<ModelMessage> =>
  request.messages.map((message): ModelMessage => {
    switch (message.role) {
      case "user":
        return { role: "user", content: message.text }
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
  })

type Result = Awaited<ReturnType<typeof generateText<ToolSet>>>
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

const nativeContent = (turn: AssistantTurn, model: string): AssistantModelMessage | undefined =>
  turn.native instanceof NativeTurn && turn.native.model === model
    ? { role: "assistant", content: turn.native.content }
    : undefined

// A call that the SDK could not parse has an error result of the SDK; the plain form is sent instead.
const nativeTurn = (result: Result, model: string): NativeTurn | undefined => {
  const [message, ...more] = result.responseMessages
  if (more.length > 0 || message?.role !== "assistant" || typeof message.content === "string") return undefined
  return new NativeTurn(model, message.content)
}

/** Encodes as JSON the parts of a response that the plain form lacks: reasoning, and additions of the provider. */
export const recordNative = (native: unknown): unknown =>
  native instanceof NativeTurn &&
  native.content.some(
    (part) => (part.type !== "text" && part.type !== "tool-call") || part.providerOptions !== undefined
  )
    ? native.content
    : undefined

/** Decodes it again, for the model of the response. */
export const restoreNative = (model: string, content: unknown): unknown =>
  Array.isArray(content) ? new NativeTurn(model, content) : undefined

const plainTurn = (turn: AssistantTurn): AssistantModelMessage => ({
  role: "assistant",
  content: [
    ...(turn.text === "" ? [] : [{ type: "text" as const, text: turn.text }]),
    ...turn.calls.map((call) => ({
      type: "tool-call" as const,
      toolCallId: call.id,
      toolName: call.name,
      // Providers refuse arguments that are not an object; the record of the call keeps the original.
      input: typeof call.input === "object" && call.input !== null && !Array.isArray(call.input) ? call.input : {}
    }))
  ]
})

/** `undefined` usage counts as 0: a provider that does not report cannot be charged. */
export const toAnswer = (
  result: Result,
  model: string,
  tools: ReadonlyArray<ToolSpec>
): Omit<GatewayAnswer, "fallbacks" | "usage"> & { readonly usage: Omit<GatewayAnswer["usage"], "costUsd"> } => {
  const names = tools.map(({ name }) => name)
  return {
    model,
    text: result.text,
    calls: result.toolCalls.map((call) => ({
      id: call.toolCallId,
      name: resolveToolName(call.toolName, names) ?? call.toolName,
      input: call.input
    })),
    native: nativeTurn(result, model),
    usage: {
      inputTokens: result.usage.inputTokens ?? 0,
      outputTokens: result.usage.outputTokens ?? 0,
      cachedTokens: result.usage.inputTokenDetails.cacheReadTokens ?? 0,
      cacheWriteTokens: result.usage.inputTokenDetails.cacheWriteTokens ?? 0,
      reasoningTokens: result.usage.outputTokenDetails.reasoningTokens ?? 0
    }
  }
}
