/** Responses of OpenAI's chat completions: reads those of a provider, writes those of the gateway. */
import type { GatewayUsage, ToolCall } from "../Gateway.ts"
import { parseArguments, toJson, toList, toNumber, toText } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"
import { newWireId, nowSeconds } from "./WireIds.ts"
import { sse } from "../WireRow.ts"
import type { WireEncoder, WireFormatRow, WireReader, WireUsage } from "../WireRow.ts"

const readUsage = (usage: WireJson): WireUsage => ({
  inputTokens: toNumber(usage["prompt_tokens"]) ?? 0,
  outputTokens: toNumber(usage["completion_tokens"]) ?? 0,
  cachedTokens: toNumber(toJson(usage["prompt_tokens_details"])["cached_tokens"]) ?? 0,
  reasoningTokens: toNumber(toJson(usage["completion_tokens_details"])["reasoning_tokens"]) ?? 0
})

interface OpenCall {
  id: string
  name: string
  input: Array<string>
}

export const chatReader = (): WireReader => {
  const text: Array<string> = []
  const open = new Map<number, OpenCall>()
  let characters = 0
  let usage: WireUsage = {}
  let finish: unknown
  let error: WireJson | undefined
  return {
    read: (piece) => {
      if (piece["error"] !== undefined && piece["error"] !== null) error = piece
      if (piece["usage"] !== undefined && piece["usage"] !== null) usage = readUsage(toJson(piece["usage"]))
      const [choice] = toList(piece["choices"])
      if (choice === undefined) return
      finish = choice["finish_reason"] ?? finish
      const delta = toJson(choice["delta"] ?? choice["message"])
      const content = toText(delta["content"])
      text.push(content)
      characters += content.length + toText(delta["reasoning_content"] ?? delta["reasoning"]).length
      for (const [at, part] of toList(delta["tool_calls"]).entries()) {
        const index = toNumber(part["index"]) ?? at
        const { arguments: input, name } = toJson(part["function"])
        const call = open.get(index) ?? { id: "", name: "", input: [] }
        open.set(index, call)
        if (toText(part["id"]) !== "") call.id = toText(part["id"])
        call.name += toText(name)
        call.input.push(toText(input))
        characters += toText(input).length
      }
    },
    text: () => text.join(""),
    calls: () => [...open.values()].map(({ id, input, name }) => ({ id, name, input: parseArguments(input.join("")) })),
    characters: () => characters,
    usage: () => usage,
    isComplete: () => typeof finish === "string",
    isCutOff: () => finish === "length",
    error: () => {
      if (error === undefined) return undefined
      const { code, message, status } = toJson(error["error"])
      const named = [status, code].map(Number).find((value) => value >= 400 && value <= 599)
      return {
        status: named ?? 502,
        message: toText(message) || toText(error["error"]) || "the provider reported an error"
      }
    }
  }
}

const writeUsage = ({ cachedTokens, inputTokens, outputTokens, reasoningTokens }: GatewayUsage) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens }
})

const writeCall = ({ id, input, name }: ToolCall) => ({
  id,
  type: "function",
  function: { name, arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}) }
})

const finishReason = (isCutOff: boolean, hasCalls: boolean): string =>
  isCutOff ? "length" : hasCalls ? "tool_calls" : "stop"

export const chatEncoder = (model: string, body: WireJson): WireEncoder => {
  const id = newWireId("chatcmpl")
  const created = nowSeconds()
  let calls = 0
  const base = { id, object: "chat.completion.chunk", created, model }
  const chunk = (delta: unknown, finish_reason: string | null = null) =>
    sse({ ...base, choices: [{ index: 0, delta, finish_reason, logprobs: null }] })
  return {
    begin: () => chunk({ role: "assistant", content: "" }),
    text: (content) => chunk({ content }),
    call: (call) => chunk({ tool_calls: [{ index: calls++, ...writeCall(call) }] }),
    end: ({ isCutOff, usage }) =>
      chunk({}, finishReason(isCutOff, calls > 0)) +
      (toJson(body["stream_options"])["include_usage"] === true
        ? sse({ ...base, choices: [], usage: writeUsage(usage) })
        : "") +
      sse("[DONE]"),
    ping: ": waiting\n\n"
  }
}

export const wholeChat: WireFormatRow["whole"] = (model, _, { calls, isCutOff, text, usage }) => ({
  id: newWireId("chatcmpl"),
  object: "chat.completion",
  created: nowSeconds(),
  model,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: text === "" && calls.length > 0 ? null : text,
        refusal: null,
        ...(calls.length === 0 ? {} : { tool_calls: calls.map(writeCall) })
      },
      logprobs: null,
      finish_reason: finishReason(isCutOff, calls.length > 0)
    }
  ],
  usage: writeUsage(usage)
})
