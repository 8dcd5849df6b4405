/** Requests of Anthropic's messages API: what an agent may not use, their meaning for the gateway, and what is passed on. Pure. */
import type { Message, ToolSpec } from "../Gateway.ts"
import { objectSchema } from "./ChatRequest.ts"
import { toJson, toList, toNumber, toText, without } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"
import type { PassedSettings, RestrictedBody, WireRequest } from "./WireRow.ts"

const serverFields = ["mcp_servers", "container", "service_tier", "speed", "metadata"]
/** Types of tools that the agent itself executes. */
const clientTool = /^(custom|bash_\d+|text_editor_\d+|memory_\d+)$/
const searchTool = /^web_search_\d+$/

/** Returns what a block refers to outside of the request. Blocks contain blocks: results of tools and documents. */
const findReference = (block: WireJson, depth = 0): string | undefined => {
  if (depth > 4) return "content in too many levels"
  const source = toJson(block["source"])
  if (source["type"] === "url") return "a URL"
  if (source["type"] === "file" || block["type"] === "container_upload") return "a file of the provider"
  return [...toList(block["content"]), ...toList(source["content"])]
    .map((inner) => findReference(inner, depth + 1))
    .find((found) => found !== undefined)
}

export const restrictAnthropic = (body: WireJson, webSearch: boolean): RestrictedBody => {
  const tools = toList(body["tools"])
  const kept = tools.filter(
    ({ type }) => type === undefined || clientTool.test(toText(type)) || (webSearch && searchTool.test(toText(type)))
  )
  const refused = toList(body["messages"])
    .flatMap(({ content }) => toList(content))
    .map((block) => findReference(block))
    .find((found) => found !== undefined)
  const removed = [
    ...tools.filter((tool) => !kept.includes(tool)).map(({ type }) => `tool ${toText(type).slice(0, 40)}`),
    ...(toList(body["mcp_servers"]).length > 0 ? ["field mcp_servers"] : [])
  ]
  const rest = without(body, kept.length === 0 ? [...serverFields, "tools", "tool_choice"] : serverFields)
  return {
    body: kept.length === 0 ? rest : { ...rest, tools: kept },
    removed,
    ...(refused === undefined ? {} : { refused })
  }
}

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

/** Blocks with a place of their own in messages of the gateway, or none: reasoning of a model is of use to itself only. */
const ownBlocks: ReadonlySet<unknown> = new Set(["tool_use", "tool_result", "thinking", "redacted_thinking"])

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
  const tools = toList(body["tools"]).flatMap((tool): ReadonlyArray<ToolSpec> => {
    const { description, input_schema, name, type } = tool
    if (type !== undefined && type !== "custom") {
      unsupported.add(`the tool ${toText(type).slice(0, 40)}`)
      return []
    }
    return [{ name: toText(name), description: toText(description), parameters: objectSchema(input_schema) }]
  })
  const { type: choice } = toJson(body["tool_choice"])
  return {
    system: blocksText(body["system"], unsupported),
    messages,
    tools: choice === "none" ? [] : tools,
    toolChoice: choice === "any" || choice === "tool" ? "required" : "auto",
    unsupported: [...unsupported]
  }
}

export const prepareAnthropic = (body: WireJson, { maxOutputTokens, model, streams }: PassedSettings): WireJson => {
  const requested = toNumber(body["max_tokens"]) ?? maxOutputTokens
  return { ...body, model, stream: streams, max_tokens: Math.min(requested, maxOutputTokens) }
}
