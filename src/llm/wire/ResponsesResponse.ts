/** Responses of OpenAI's responses API: reads those of a provider, writes those of the gateway. */
import type { GatewayUsage, ToolCall } from "../Gateway.ts"
import { parseArguments, toJson, toList, toNumber, toText } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"
import { toolForms } from "./ResponsesRequest.ts"
import type { ToolForm } from "./ResponsesRequest.ts"
import { newWireId, nowSeconds } from "./WireIds.ts"
import { sse } from "../WireRow.ts"
import type { WireEncoder, WireEnd, WireFormatRow, WireReader, WireUsage } from "../WireRow.ts"

const readUsage = (usage: WireJson): WireUsage => ({
  inputTokens: toNumber(usage["input_tokens"]) ?? 0,
  outputTokens: toNumber(usage["output_tokens"]) ?? 0,
  cachedTokens: toNumber(toJson(usage["input_tokens_details"])["cached_tokens"]) ?? 0,
  reasoningTokens: toNumber(toJson(usage["output_tokens_details"])["reasoning_tokens"]) ?? 0
})

const finals: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete", "response.failed"])
const deltas: ReadonlySet<unknown> = new Set([
  "response.output_text.delta",
  "response.function_call_arguments.delta",
  "response.custom_tool_call_input.delta",
  "response.reasoning_text.delta",
  "response.reasoning_summary_text.delta"
])

class ResponsesReader implements WireReader {
  readonly #items: Array<WireJson> = []
  #characters = 0
  #response: WireJson | undefined
  #error: WireJson | undefined

  read = (piece: WireJson): void => {
    const { type } = piece
    if (deltas.has(type)) this.#characters += toText(piece["delta"]).length
    else if (type === "response.output_item.done") this.#items.push(toJson(piece["item"]))
    else if (type === "error") this.#error = toJson(piece["error"] ?? piece)
    else if (finals.has(type) || piece["object"] === "response") {
      const response = toJson(piece["response"] ?? piece)
      this.#response = response
      if (response["status"] === "failed") this.#error = toJson(response["error"])
      if (this.#items.length === 0) this.#items.push(...toList(response["output"]))
      if (piece["object"] === "response") this.#characters += JSON.stringify(this.#items).length
    }
  }

  text = () =>
    this.#items
      .flatMap(({ content, type }) => (type === "message" ? toList(content) : []))
      .map(({ text }) => toText(text))
      .join("")
  calls = () =>
    this.#items.flatMap(({ arguments: input, call_id, name, type }): ReadonlyArray<ToolCall> =>
      type === "function_call"
        ? [{ id: toText(call_id), name: toText(name), input: parseArguments(toText(input)) }]
        : []
    )
  characters = () => this.#characters
  usage = () => (this.#response === undefined ? {} : readUsage(toJson(this.#response["usage"])))
  isComplete = () => this.#response !== undefined
  isCutOff = () => this.#response?.["status"] === "incomplete"
  error = () => {
    if (this.#error === undefined) return undefined
    const { code, message } = this.#error
    const status = code === "rate_limit_exceeded" ? 429 : code === "context_length_exceeded" ? 400 : 500
    return { status, message: toText(message) || "the provider reported an error" }
  }
}

export const responsesReader = (): WireReader => new ResponsesReader()

const writeUsage = ({ cachedTokens, inputTokens, outputTokens, reasoningTokens }: GatewayUsage) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedTokens },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens
})

const writeCall = ({ id, input, name }: ToolCall, forms: ReadonlyMap<string, ToolForm>): WireJson => {
  const form = forms.get(name) ?? { name, namespace: undefined, isCustom: false }
  const named = {
    call_id: id,
    name: form.name,
    ...(form.namespace === undefined ? {} : { namespace: form.namespace }),
    status: "completed"
  }
  if (form.isCustom)
    return { id: newWireId("ctc"), type: "custom_tool_call", ...named, input: toText(toJson(input)["input"]) }
  const text = typeof input === "string" ? input : JSON.stringify(input ?? {})
  return { id: newWireId("fc"), type: "function_call", ...named, arguments: text }
}

const writeText = (id: string, text: string, status: string): WireJson => ({
  id,
  type: "message",
  role: "assistant",
  status,
  content: status === "completed" ? [{ type: "output_text", text, annotations: [] }] : []
})

const writeResponse = (
  base: { readonly id: string; readonly created_at: number; readonly model: string },
  output: ReadonlyArray<WireJson>,
  end?: WireEnd
): WireJson => ({
  ...base,
  object: "response",
  status: end === undefined ? "in_progress" : end.isCutOff ? "incomplete" : "completed",
  error: null,
  incomplete_details: end?.isCutOff === true ? { reason: "max_output_tokens" } : null,
  instructions: null,
  metadata: {},
  output,
  parallel_tool_calls: true,
  tool_choice: "auto",
  tools: [],
  usage: end === undefined ? null : writeUsage(end.usage)
})

class ResponsesEncoder implements WireEncoder {
  readonly #base: { readonly id: string; readonly created_at: number; readonly model: string }
  readonly #forms: ReadonlyMap<string, ToolForm>
  readonly #output: Array<WireJson> = []
  #sequence = 0
  #text: { readonly id: string; readonly parts: Array<string> } | undefined
  readonly ping = ": waiting\n\n"

  constructor(model: string, body: WireJson) {
    this.#base = { id: newWireId("resp"), created_at: nowSeconds(), model }
    this.#forms = toolForms(body)
  }

  #event(type: string, data: WireJson): string {
    return sse({ type, sequence_number: this.#sequence++, ...data }, type)
  }
  #delta(type: string, item_id: unknown, data: WireJson): string {
    return this.#event(type, { item_id, output_index: this.#output.length, ...data })
  }
  #item(type: "added" | "done", item: WireJson): string {
    return this.#event(`response.output_item.${type}`, { output_index: this.#output.length, item })
  }

  begin(): string {
    const response = writeResponse(this.#base, [])
    return this.#event("response.created", { response }) + this.#event("response.in_progress", { response })
  }

  text(delta: string): string {
    let opened = ""
    if (this.#text === undefined) {
      const id = newWireId("msg")
      this.#text = { id, parts: [] }
      const part = { type: "output_text", text: "", annotations: [] }
      opened =
        this.#item("added", writeText(id, "", "in_progress")) +
        this.#delta("response.content_part.added", id, { content_index: 0, part })
    }
    this.#text.parts.push(delta)
    return opened + this.#delta("response.output_text.delta", this.#text.id, { content_index: 0, delta, logprobs: [] })
  }

  #endText(): string {
    if (this.#text === undefined) return ""
    const { id, parts } = this.#text
    this.#text = undefined
    const text = parts.join("")
    const part = { type: "output_text", text, annotations: [] }
    const item = writeText(id, text, "completed")
    const events =
      this.#delta("response.output_text.done", id, { content_index: 0, text, logprobs: [] }) +
      this.#delta("response.content_part.done", id, { content_index: 0, part }) +
      this.#item("done", item)
    this.#output.push(item)
    return events
  }

  call(call: ToolCall): string {
    const ended = this.#endText()
    const item = writeCall(call, this.#forms)
    const field = item["type"] === "custom_tool_call" ? "input" : "arguments"
    const name = field === "input" ? "response.custom_tool_call_input" : "response.function_call_arguments"
    const events =
      this.#item("added", { ...item, [field]: "", status: "in_progress" }) +
      this.#delta(`${name}.delta`, item["id"], { delta: item[field] }) +
      this.#delta(`${name}.done`, item["id"], { [field]: item[field] }) +
      this.#item("done", item)
    this.#output.push(item)
    return ended + events
  }

  end(end: WireEnd): string {
    const ended = this.#endText()
    const response = writeResponse(this.#base, this.#output, end)
    return ended + this.#event(end.isCutOff ? "response.incomplete" : "response.completed", { response })
  }
}

export const responsesEncoder = (model: string, body: WireJson): WireEncoder => new ResponsesEncoder(model, body)

export const wholeResponses: WireFormatRow["whole"] = (model, body, { calls, text, ...end }) => {
  const forms = toolForms(body)
  const base = { id: newWireId("resp"), created_at: nowSeconds(), model }
  const output = [
    ...(text === "" ? [] : [writeText(newWireId("msg"), text, "completed")]),
    ...calls.map((call) => writeCall(call, forms))
  ]
  return writeResponse(base, output, end)
}
