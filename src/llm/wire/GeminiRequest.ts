/** Requests of Gemini's API: their meaning for the gateway, and what is passed on. Pure. */
import type { Message, ToolCall, ToolSpec } from "../Gateway.ts"
import { googleThinking } from "../providers/Thinking.ts"
import { objectSchema } from "./ChatRequest.ts"
import { isJson, toJson, toList, toNumber, toText, without } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"
import type { PassedSettings, WireRequest } from "../WireRow.ts"

/** Converts the schema of a declaration, whose names of types are in upper case, to JSON Schema. */
const toSchema = (value: unknown, depth = 0): unknown => {
  if (depth > 32) return {}
  if (Array.isArray(value)) return value.map((item) => toSchema(item, depth + 1))
  if (!isJson(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      name === "type" && typeof field === "string" ? field.toLowerCase() : toSchema(field, depth + 1)
    ])
  )
}

const partsText = (parts: ReadonlyArray<WireJson>, unsupported: Set<string>): string =>
  parts
    .flatMap((part) => {
      if (part["thought"] === true) return []
      if (typeof part["text"] === "string") return [part["text"]]
      const { mimeType } = toJson(part["inlineData"])
      if (part["inlineData"] !== undefined)
        unsupported.add(toText(mimeType).startsWith("image/") ? "images" : "inline data")
      return []
    })
    .join("\n")

/** Gives calls without an id one, which the response to the same function gets too, in order. */
class CallIds {
  #count = 0
  readonly #open = new Map<string, Array<string>>()

  add(name: string, id: string): string {
    const given = id === "" ? `call_${++this.#count}` : id
    this.#open.set(name, [...(this.#open.get(name) ?? []), given])
    return given
  }
  take(name: string, id: string): string {
    if (id !== "") return id
    return this.#open.get(name)?.shift() ?? `call_${++this.#count}`
  }
}

const toMessages = (content: WireJson, ids: CallIds, unsupported: Set<string>): ReadonlyArray<Message> => {
  const parts = toList(content["parts"])
  const text = partsText(parts, unsupported)
  if (content["role"] === "model") {
    const calls = parts.flatMap(({ functionCall }): ReadonlyArray<ToolCall> => {
      if (!isJson(functionCall)) return []
      const name = toText(functionCall["name"])
      return [{ id: ids.add(name, toText(functionCall["id"])), name, input: functionCall["args"] ?? {} }]
    })
    return [{ role: "assistant", text, calls }]
  }
  const results = parts.flatMap(({ functionResponse }) => {
    if (!isJson(functionResponse)) return []
    const name = toText(functionResponse["name"])
    const response = toJson(functionResponse["response"])
    const { output } = response
    const said = typeof output === "string" ? output : JSON.stringify(response)
    return [{ id: ids.take(name, toText(functionResponse["id"])), name, output: said }]
  })
  return [
    ...(results.length === 0 ? [] : [{ role: "tool" as const, results }]),
    ...(text === "" && results.length > 0 ? [] : [{ role: "user" as const, text }])
  ]
}

export const decodeGemini = (body: WireJson): WireRequest => {
  const unsupported = new Set<string>()
  const ids = new CallIds()
  const system = body["systemInstruction"]
  const declared = toList(body["tools"]).flatMap((tool) => toList(tool["functionDeclarations"]))
  const searches = toList(body["tools"]).some((tool) => tool["googleSearch"] !== undefined)
  const tools = declared.map(({ description, name, parameters, parametersJsonSchema }): ToolSpec => ({
    name: toText(name),
    description: toText(description),
    parameters: objectSchema(parametersJsonSchema ?? toSchema(parameters))
  }))
  const { mode } = toJson(toJson(body["toolConfig"])["functionCallingConfig"])
  return {
    system: typeof system === "string" ? system : partsText(toList(toJson(system)["parts"]), unsupported),
    messages: toList(body["contents"]).flatMap((content) => toMessages(content, ids, unsupported)),
    tools: mode === "NONE" ? [] : tools,
    toolChoice: tools.length > 0 && mode === "ANY" ? "required" : "auto",
    searchTools: searches ? ["googleSearch"] : [],
    unsupported: [...unsupported]
  }
}

/** The model and the choice between a stream and a whole response are parts of the URL. */
export const prepareGemini = (body: WireJson, { maxOutputTokens, thinking }: PassedSettings): WireJson => {
  const config = toJson(body["generationConfig"])
  const { thinkingConfig } = googleThinking(thinking)
  // The API refuses a level and a budget in one request.
  const own =
    thinkingConfig === undefined
      ? {}
      : {
          thinkingConfig: {
            ...without(toJson(config["thinkingConfig"]), ["thinkingBudget", "thinkingLevel"]),
            ...thinkingConfig
          }
        }
  const requested = toNumber(config["maxOutputTokens"]) ?? maxOutputTokens
  return {
    ...body,
    generationConfig: {
      ...config,
      ...own,
      candidateCount: 1,
      maxOutputTokens: Math.min(requested, maxOutputTokens)
    }
  }
}
