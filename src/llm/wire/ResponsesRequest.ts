/** Requests of OpenAI's responses API: their meaning for the gateway, and what is passed on. Pure. */
import type { Message, ToolCall, ToolSpec } from "../Gateway.ts"
import { openaiEffort } from "../providers/Thinking.ts"
import { objectSchema } from "./ChatRequest.ts"
import { isJson, parseArguments, toJson, toList, toNumber, toText } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"
import type { PassedSettings, WireRequest } from "../WireRow.ts"

const textTypes: ReadonlySet<unknown> = new Set(["input_text", "output_text", "text", "summary_text"])

const contentText = (content: unknown, unsupported: Set<string>): string => {
  if (typeof content === "string") return content
  return toList(content)
    .map(({ refusal, text, type }) => {
      if (textTypes.has(type)) return toText(text)
      if (type === "refusal") return toText(refusal)
      unsupported.add(type === "input_image" ? "images" : `content of the type ${toText(type).slice(0, 40)}`)
      return ""
    })
    .join("\n")
}

/** Name of a tool of a namespace for models of other APIs, which have no namespaces. */
const flatName = (namespace: unknown, name: unknown): string =>
  toText(namespace) === "" ? toText(name) : `${toText(namespace)}__${toText(name)}`

/** Form of the calls of a tool, by the name that the model sees. */
export interface ToolForm {
  readonly name: string
  readonly namespace: string | undefined
  readonly isCustom: boolean
}

export const toolForms = (body: WireJson): ReadonlyMap<string, ToolForm> => {
  const forms = new Map<string, ToolForm>()
  const add = (tools: unknown, namespace: string | undefined): void => {
    for (const tool of toList(tools)) {
      if (tool["type"] === "namespace") add(tool["tools"], toText(tool["name"]))
      const name = toText(tool["name"])
      forms.set(flatName(namespace, name), { name, namespace, isCustom: tool["type"] === "custom" })
    }
  }
  add(body["tools"], undefined)
  for (const item of toList(body["input"])) if (item["type"] === "additional_tools") add(item["tools"], undefined)
  return forms
}

/** A tool with free text as input gets one field with this name. */
const customInput = "input"

const toTools = (tools: unknown, namespace: unknown, searchTools: Array<string>): ReadonlyArray<ToolSpec> =>
  toList(tools).flatMap((tool): ReadonlyArray<ToolSpec> => {
    const { description, name, parameters, type } = tool
    const named = { name: flatName(namespace, name), description: toText(description) }
    if (type === "namespace") return toTools(tool["tools"], name, searchTools)
    if (type === "custom") {
      const properties = { [customInput]: { type: "string" } }
      return [{ ...named, parameters: { type: "object", properties, required: [customInput] } }]
    }
    if (type === "function") return [{ ...named, parameters: objectSchema(parameters) }]
    searchTools.push(toText(type))
    return []
  })

const callTypes: ReadonlySet<unknown> = new Set(["function_call", "custom_tool_call"])
const outputTypes: ReadonlySet<unknown> = new Set(["function_call_output", "custom_tool_call_output"])

const toCall = (item: WireJson): ToolCall => ({
  id: toText(item["call_id"]),
  name: flatName(item["namespace"], item["name"]),
  input:
    item["type"] === "custom_tool_call"
      ? { [customInput]: toText(item["input"]) }
      : parseArguments(toText(item["arguments"]))
})

/** Adds an item to the messages; calls and results that follow each other belong to one message. */
const addItem = (
  messages: Array<Message>,
  item: WireJson,
  names: Map<string, string>,
  unsupported: Set<string>
): void => {
  const last = messages.at(-1)
  if (callTypes.has(item["type"])) {
    const call = toCall(item)
    names.set(call.id, call.name)
    if (last?.role === "assistant") messages[messages.length - 1] = { ...last, calls: [...last.calls, call] }
    else messages.push({ role: "assistant", text: "", calls: [call] })
  } else if (outputTypes.has(item["type"])) {
    const id = toText(item["call_id"])
    const result = { id, name: names.get(id) ?? "unknown", output: contentText(item["output"], unsupported) }
    if (last?.role === "tool") messages[messages.length - 1] = { role: "tool", results: [...last.results, result] }
    else messages.push({ role: "tool", results: [result] })
  } else if (item["role"] === "assistant") {
    messages.push({ role: "assistant", text: contentText(item["content"], unsupported), calls: [] })
  } else if (item["role"] === "user") {
    messages.push({ role: "user", text: contentText(item["content"], unsupported) })
  }
}

export const decodeResponses = (body: WireJson): WireRequest => {
  const unsupported = new Set<string>()
  const system = [toText(body["instructions"])]
  const messages: Array<Message> = []
  const names = new Map<string, string>()
  const searchTools: Array<string> = []
  const tools = [...toTools(body["tools"], undefined, searchTools)]
  if (typeof body["input"] === "string") messages.push({ role: "user", text: body["input"] })
  for (const item of toList(body["input"])) {
    if (item["type"] === "additional_tools") tools.push(...toTools(item["tools"], undefined, searchTools))
    else if (item["role"] === "system" || item["role"] === "developer")
      system.push(contentText(item["content"], unsupported))
    else addItem(messages, item, names, unsupported)
  }
  const choice = body["tool_choice"]
  return {
    system: system.filter((text) => text !== "").join("\n\n"),
    messages,
    tools: choice === "none" ? [] : tools,
    toolChoice: tools.length > 0 && (choice === "required" || isJson(choice)) ? "required" : "auto",
    searchTools,
    unsupported: [...unsupported]
  }
}

export const prepareResponses = (
  body: WireJson,
  { maxOutputTokens, model, streams, thinking }: PassedSettings
): WireJson => {
  const effort = openaiEffort(thinking)
  const requested = toNumber(body["max_output_tokens"]) ?? maxOutputTokens
  return {
    ...body,
    model,
    stream: streams,
    max_output_tokens: Math.min(requested, maxOutputTokens),
    ...(effort === undefined ? {} : { reasoning: { ...toJson(body["reasoning"]), effort } })
  }
}
