/** Responses of Anthropic's messages API: reads those of a provider, writes those of the gateway. */
import type { GatewayUsage, ToolCall } from "../Gateway.ts"
import { parseArguments, toJson, toList, toNumber, toText } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"
import { newWireId } from "./WireIds.ts"
import { sse } from "../WireRow.ts"
import type { WireEncoder, WireFailureKind, WireFormatRow, WireReader, WireUsage } from "../WireRow.ts"

/** Reports contain only what has changed; input tokens do not include those of the cache. */
const readUsage = (usage: WireJson): WireUsage => {
  const fresh = toNumber(usage["input_tokens"])
  const cachedTokens = toNumber(usage["cache_read_input_tokens"]) ?? 0
  const cacheWriteTokens = toNumber(usage["cache_creation_input_tokens"]) ?? 0
  const outputTokens = toNumber(usage["output_tokens"])
  return {
    ...(fresh === undefined
      ? {}
      : { inputTokens: fresh + cachedTokens + cacheWriteTokens, cachedTokens, cacheWriteTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens })
  }
}

const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  timeout_error: 504,
  overloaded_error: 529
}

interface OpenBlock {
  readonly type: unknown
  readonly id: string
  readonly name: string
  readonly input: Array<string>
  readonly whole: unknown
}

const openBlock = (block: WireJson): OpenBlock => ({
  type: block["type"],
  id: toText(block["id"]),
  name: toText(block["name"]),
  input: [],
  whole: block["input"]
})

class AnthropicReader implements WireReader {
  readonly #text: Array<string> = []
  readonly #blocks = new Map<number, OpenBlock>()
  #characters = 0
  #usage: WireUsage = {}
  #stop: unknown
  #isComplete = false
  #error: WireJson | undefined

  read = (piece: WireJson): void => {
    switch (piece["type"]) {
      case "message_start":
        this.#usage = readUsage(toJson(toJson(piece["message"])["usage"]))
        return
      case "content_block_start":
        this.#blocks.set(toNumber(piece["index"]) ?? 0, openBlock(toJson(piece["content_block"])))
        return
      case "content_block_delta":
        this.#addDelta(toNumber(piece["index"]) ?? 0, toJson(piece["delta"]))
        return
      case "message_delta":
        this.#usage = { ...this.#usage, ...readUsage(toJson(piece["usage"])) }
        this.#stop = toJson(piece["delta"])["stop_reason"] ?? this.#stop
        return
      case "message_stop":
        this.#isComplete = true
        return
      case "error":
        this.#error = toJson(piece["error"])
        return
      case "message":
        this.#readWhole(piece)
        return
      default:
    }
  }

  #addDelta(index: number, delta: WireJson): void {
    const text = toText(delta["text"])
    const input = toText(delta["partial_json"])
    this.#text.push(text)
    this.#blocks.get(index)?.input.push(input)
    this.#characters += text.length + input.length + toText(delta["thinking"]).length
  }

  #readWhole(message: WireJson): void {
    for (const [index, block] of toList(message["content"]).entries()) {
      this.#blocks.set(index, openBlock(block))
      this.#addDelta(index, { text: block["text"] })
      this.#characters += JSON.stringify(block["input"] ?? "").length
    }
    this.#usage = readUsage(toJson(message["usage"]))
    this.#stop = message["stop_reason"]
    this.#isComplete = true
  }

  text = () => this.#text.join("")
  calls = () =>
    [...this.#blocks.values()].flatMap(({ id, input, name, type, whole }): ReadonlyArray<ToolCall> => {
      const text = input.join("")
      return type === "tool_use" ? [{ id, name, input: text === "" ? whole : parseArguments(text) }] : []
    })
  characters = () => this.#characters
  usage = () => this.#usage
  isComplete = () => this.#isComplete
  isCutOff = () => this.#stop === "max_tokens"
  error = () => {
    if (this.#error === undefined) return undefined
    const { message, type } = this.#error
    return { status: statuses[toText(type)] ?? 500, message: toText(message) || "the provider reported an error" }
  }
}

export const anthropicReader = (): WireReader => new AnthropicReader()

const writeUsage = ({ cachedTokens, cacheWriteTokens, inputTokens, outputTokens }: GatewayUsage) => ({
  input_tokens: Math.max(0, inputTokens - cachedTokens - cacheWriteTokens),
  cache_read_input_tokens: cachedTokens,
  cache_creation_input_tokens: cacheWriteTokens,
  output_tokens: outputTokens
})

const stopReason = (isCutOff: boolean, hasCalls: boolean): string =>
  isCutOff ? "max_tokens" : hasCalls ? "tool_use" : "end_turn"

const noUsage: GatewayUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  costUsd: undefined
}

export const anthropicEncoder = (model: string): WireEncoder => {
  let index = -1
  let isText = false
  let calls = 0
  const event = (data: WireJson) => sse(data, toText(data["type"]))
  const start = (content_block: unknown) => event({ type: "content_block_start", index: ++index, content_block })
  const delta = (value: unknown) => event({ type: "content_block_delta", index, delta: value })
  const stopText = () => {
    const wasText = isText
    isText = false
    return wasText ? event({ type: "content_block_stop", index }) : ""
  }
  return {
    begin: () => {
      const message = {
        id: newWireId("msg"),
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: writeUsage(noUsage)
      }
      return event({ type: "message_start", message })
    },
    text: (text) => {
      const opened = isText ? "" : start({ type: "text", text: "" })
      isText = true
      return opened + delta({ type: "text_delta", text })
    },
    call: ({ id, input, name }) => {
      calls++
      return (
        stopText() +
        start({ type: "tool_use", id, name, input: {} }) +
        delta({ type: "input_json_delta", partial_json: JSON.stringify(input ?? {}) }) +
        event({ type: "content_block_stop", index })
      )
    },
    end: ({ isCutOff, usage }) =>
      stopText() +
      event({
        type: "message_delta",
        delta: { stop_reason: stopReason(isCutOff, calls > 0), stop_sequence: null },
        usage: writeUsage(usage)
      }) +
      event({ type: "message_stop" }),
    ping: event({ type: "ping" })
  }
}

export const wholeAnthropic: WireFormatRow["whole"] = (model, _, { calls, isCutOff, text, usage }) => ({
  id: newWireId("msg"),
  type: "message",
  role: "assistant",
  model,
  content: [
    ...(text === "" ? [] : [{ type: "text", text }]),
    ...calls.map(({ id, input, name }) => ({ type: "tool_use", id, name, input: input ?? {} }))
  ],
  stop_reason: stopReason(isCutOff, calls.length > 0),
  stop_sequence: null,
  usage: writeUsage(usage)
})

const errors: Record<WireFailureKind, readonly [status: number, type: string]> = {
  not_configured: [400, "invalid_request_error"],
  unauthorized: [400, "invalid_request_error"],
  rate_limited: [429, "rate_limit_error"],
  unavailable: [529, "overloaded_error"],
  timeout: [504, "timeout_error"],
  overflow: [400, "invalid_request_error"],
  refused: [400, "invalid_request_error"],
  invalid: [400, "invalid_request_error"],
  budget: [402, "billing_error"],
  unpriced: [402, "billing_error"],
  limit: [402, "billing_error"],
  unauthorized_agent: [401, "authentication_error"],
  not_found: [404, "not_found_error"],
  too_large: [413, "request_too_large"],
  busy: [429, "rate_limit_error"]
}

const errorBody = (kind: WireFailureKind, message: string) => ({
  type: "error",
  error: { type: errors[kind][1], message: kind === "overflow" ? `prompt is too long: ${message}` : message }
})

export const anthropicError: WireFormatRow["error"] = (kind, message) => ({
  status: errors[kind][0],
  body: errorBody(kind, message)
})

export const anthropicErrorEvent: WireFormatRow["errorEvent"] = (kind, message) =>
  sse(errorBody(kind, message), "error")
