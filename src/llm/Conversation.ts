/** Between our messages and the AI SDK's: what is sent, and what an answer becomes. */
import { jsonSchema, tool } from "ai"
import type { AssistantModelMessage, generateText, ModelMessage, SystemModelMessage, ToolSet } from "ai"
import type { ProviderOptions } from "@ai-sdk/provider-utils"
import type { GatewayAnswer, GatewayRequest, Message, ToolSpec } from "./Gateway.ts"
import { resolveToolName } from "./ToolNames.ts"

/** Tools without `execute`: the SDK makes one step and hands the calls back. Inputs are validated by whoever offered the tool. */
export const toTools = (specs: ReadonlyArray<ToolSpec>): ToolSet =>
  Object.fromEntries(
    specs.map((spec) => [
      spec.name,
      tool({ description: spec.description, inputSchema: jsonSchema<unknown>({ ...spec.parameters }) })
    ])
  )

/** `mark` is how the provider is told that everything up to here is worth caching: the system text, and the conversation so far. */
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

/** A model's answer in its provider's own form: signed reasoning and the like, worthless to every other model. */
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

// A call that the SDK could not parse comes back with an error result of the SDK's own: our plain form is repeated instead.
const nativeTurn = (result: Result, model: string): NativeTurn | undefined => {
  const [message, ...more] = result.responseMessages
  if (more.length > 0 || message?.role !== "assistant" || typeof message.content === "string") return undefined
  return new NativeTurn(model, message.content)
}

/** As JSON, what the plain form of an answer does not carry: reasoning, and what its provider adds to parts. */
export const recordNative = (native: unknown): unknown =>
  native instanceof NativeTurn &&
  native.content.some(
    (part) => (part.type !== "text" && part.type !== "tool-call") || part.providerOptions !== undefined
  )
    ? native.content
    : undefined

/** The reverse, for the model that gave the answer. */
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
      // Providers refuse arguments that are no object; what the model sent stands in our own record of the call.
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
