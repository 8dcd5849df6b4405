/** Requests of Anthropic's messages API: their meaning for the gateway, and what is passed on. Pure. */
import type { Message, ToolSpec } from "../Gateway.ts"
import { anthropicThinking } from "../providers/Thinking.ts"
import type { Thinking } from "../providers/Thinking.ts"
import { objectSchema } from "./ChatRequest.ts"
import { toJson, toList, toNumber, toText, without } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"
import type { PassedSettings, WireRequest } from "../WireRow.ts"

/** Returns the text of blocks, and notes those that are not text. */
const blocksText = (content: unknown, unsupported: Set<string>): string => {
  if (typeof content === "string") return content
  return toList(content)
    .map((block) => {
      const { text, type } = block
      if (type === "text") return toText(text)
      unsupported.add(type === "image" ? "images" : `content of the type ${toText(type).slice(0, 40)}`)
      return ""
    })
    .join("\n")
}

/** Blocks with a place of their own in messages of the gateway, or none: reasoning and searches of a model are of use to itself only. */
const ownBlocks: ReadonlySet<unknown> = new Set([
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "server_tool_use",
  "web_search_tool_result"
])

const toMessages = (
  message: WireJson,
  names: Map<string, string>,
  unsupported: Set<string>
): ReadonlyArray<Message> => {
  const { content, role } = message
  const blocks = toList(content)
  const text = blocksText(
    typeof content === "string" ? content : blocks.filter(({ type }) => !ownBlocks.has(type)),
    unsupported
  )
  if (role === "assistant") {
    const calls = blocks.flatMap(({ id, input, name, type }) =>
      type === "tool_use" ? [{ id: toText(id), name: toText(name), input }] : []
    )
    for (const { id, name } of calls) names.set(id, name)
    return [{ role: "assistant", text, calls }]
  }
  const results = blocks.flatMap(({ content: output, is_error, tool_use_id, type }) => {
    if (type !== "tool_result") return []
    const id = toText(tool_use_id)
    const said = blocksText(output, unsupported)
    return [{ id, name: names.get(id) ?? "unknown", output: is_error === true ? `error: ${said}` : said }]
  })
  return [
    ...(results.length === 0 ? [] : [{ role: "tool" as const, results }]),
    ...(text === "" && results.length > 0 ? [] : [{ role: "user" as const, text }])
  ]
}

export const decodeAnthropic = (body: WireJson): WireRequest => {
  const unsupported = new Set<string>()
  const names = new Map<string, string>()
  const messages = toList(body["messages"]).flatMap((message) => toMessages(message, names, unsupported))
  const searchTools: Array<string> = []
  const tools = toList(body["tools"]).flatMap((tool): ReadonlyArray<ToolSpec> => {
    const { description, input_schema, name, type } = tool
    if (type !== undefined && type !== "custom") {
      searchTools.push(toText(type))
      return []
    }
    return [{ name: toText(name), description: toText(description), parameters: objectSchema(input_schema) }]
  })
  const { type: choice } = toJson(body["tool_choice"])
  return {
    system: blocksText(body["system"], unsupported),
    messages,
    tools: choice === "none" ? [] : tools,
    toolChoice: tools.length > 0 && (choice === "any" || choice === "tool") ? "required" : "auto",
    searchTools,
    unsupported: [...unsupported]
  }
}

/** Fewest tokens of a budget for thinking that the API accepts. */
const minBudget = 1024

/** Thinking is not possible with a forced choice of a tool, and its budget is a part of the output. */
const toThinking = (body: WireJson, thinking: Thinking, maxTokens: number): WireJson | undefined => {
  const { thinking: own } = anthropicThinking(thinking)
  const { type: choice } = toJson(body["tool_choice"])
  if (own === undefined || (own.type !== "disabled" && (choice === "any" || choice === "tool"))) return undefined
  if (own.budgetTokens === undefined) return { ...pickDisplay(body, own.type), type: own.type }
  const budget = Math.min(own.budgetTokens, maxTokens - 1)
  return budget < minBudget ? undefined : { ...pickDisplay(body, own.type), type: own.type, budget_tokens: budget }
}

const pickDisplay = (body: WireJson, type: string): WireJson => {
  const { display } = toJson(body["thinking"])
  return type === "disabled" || display === undefined ? {} : { display }
}

export const prepareAnthropic = (
  body: WireJson,
  { maxOutputTokens, model, streams, thinking }: PassedSettings
): WireJson => {
  const maxTokens = Math.min(toNumber(body["max_tokens"]) ?? maxOutputTokens, maxOutputTokens)
  const { effort } = anthropicThinking(thinking)
  const own = toThinking(body, thinking, maxTokens)
  // What is done with the thinking of earlier responses is refused where there is none.
  const kept = own?.["type"] === "disabled" ? without(body, ["context_management"]) : body
  return {
    ...kept,
    model,
    stream: streams,
    max_tokens: maxTokens,
    ...(own === undefined ? {} : { thinking: own }),
    ...(effort === undefined ? {} : { output_config: { ...toJson(body["output_config"]), effort } })
  }
}
