/** Requests of OpenAI's chat completions: their meaning for the gateway, and what is passed on. Pure. */
import type { Message, ToolCall, ToolSpec } from "../Gateway.ts"
import { openaiEffort } from "../providers/Thinking.ts"
import { isJson, parseArguments, toJson, toList, toNumber, toText, without } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"
import type { PassedSettings, WireRequest } from "../WireRow.ts"

/** Returns the text of a content, and notes parts that are not text. */
const contentText = (content: unknown, unsupported: Set<string>): string => {
  if (typeof content === "string") return content
  return toList(content)
    .map((part) => {
      const { refusal, text, type } = part
      if (type === "text") return toText(text)
      if (type === "refusal") return toText(refusal)
      unsupported.add(type === "image_url" ? "images" : `content of the type ${toText(type).slice(0, 40)}`)
      return ""
    })
    .join("\n")
}

const toCalls = (calls: unknown): ReadonlyArray<ToolCall> =>
  toList(calls).map(({ custom, function: called, id }) => {
    const { arguments: input, name } = toJson(called ?? custom)
    return { id: toText(id), name: toText(name), input: parseArguments(toText(input ?? toJson(custom)["input"])) }
  })

const toTools = (tools: ReadonlyArray<WireJson>, unsupported: Set<string>): ReadonlyArray<ToolSpec> =>
  tools.flatMap((tool) => {
    if (tool["type"] !== "function") {
      unsupported.add("tools with free text as input")
      return []
    }
    const { description, name, parameters } = toJson(tool["function"])
    return [{ name: toText(name), description: toText(description), parameters: objectSchema(parameters) }]
  })

/** Returns the JSON Schema of an input; an object without fields where there is none. */
export const objectSchema = (schema: unknown): WireJson =>
  isJson(schema) && Object.keys(schema).length > 0 ? schema : { type: "object", properties: {} }

export const decodeChat = (body: WireJson): WireRequest => {
  const unsupported = new Set<string>()
  const system: Array<string> = []
  const messages: Array<Message> = []
  const names = new Map<string, string>()
  for (const message of toList(body["messages"])) {
    const text = contentText(message["content"], unsupported)
    switch (message["role"]) {
      case "system":
      case "developer":
        system.push(text)
        break
      case "assistant": {
        const calls = toCalls(message["tool_calls"])
        for (const { id, name } of calls) names.set(id, name)
        messages.push({ role: "assistant", text, calls })
        break
      }
      case "tool": {
        const id = toText(message["tool_call_id"])
        const result = { id, name: names.get(id) ?? "unknown", output: text }
        const last = messages.at(-1)
        if (last?.role === "tool") messages[messages.length - 1] = { role: "tool", results: [...last.results, result] }
        else messages.push({ role: "tool", results: [result] })
        break
      }
      default:
        messages.push({ role: "user", text })
    }
  }
  const choice = body["tool_choice"]
  const tools = choice === "none" ? [] : toTools(toList(body["tools"]), unsupported)
  return {
    system: system.join("\n\n"),
    messages,
    tools,
    toolChoice: tools.length > 0 && (choice === "required" || isJson(choice)) ? "required" : "auto",
    searchTools: body["web_search_options"] === undefined ? [] : ["web_search_options"],
    unsupported: [...unsupported]
  }
}

export const prepareChat = (body: WireJson, settings: PassedSettings): WireJson => {
  const { isOpenAi, maxOutputTokens, model, streams, thinking } = settings
  const effort = openaiEffort(thinking)
  const budget = isOpenAi ? undefined : thinking.thinking_budget_tokens
  const requested = toNumber(body["max_completion_tokens"]) ?? toNumber(body["max_tokens"])
  const field = body["max_tokens"] === undefined && (isOpenAi || body["max_completion_tokens"] !== undefined)
  const limit = Math.min(requested ?? maxOutputTokens, maxOutputTokens)
  return {
    ...without(body, ["max_tokens", "max_completion_tokens", "stream_options"]),
    model,
    [field ? "max_completion_tokens" : "max_tokens"]: limit,
    stream: streams,
    ...(streams ? { stream_options: { ...toJson(body["stream_options"]), include_usage: true } } : {}),
    ...(effort === undefined ? {} : { reasoning_effort: effort }),
    ...(budget === undefined ? {} : { thinking: { type: "enabled", budget_tokens: budget } })
  }
}
