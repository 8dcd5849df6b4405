/**
 * Ollama silently truncates a prompt to its context window, which is small unless a request sets it. Its OpenAI-compatible API
 * has no field for it: prompts that may exceed the default window are sent to its own API, and the streamed responses are converted (OllamaStream.ts).
 */
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { Option, Schema } from "effect"
import { toEventStream } from "./OllamaStream.ts"

/** Default context window of Ollama. */
const usualWindow = 4096
/** Requested windows: only a few, because the model is reloaded for each. */
const smallestWindow = 8192
const assumedOutput = 4096
/** Conservative estimate, so that the window is large enough. */
const charsPerToken = 2.5

const Fields = Schema.Record(Schema.String, Schema.Unknown)
const Call = Schema.Struct({
  id: Schema.String,
  function: Schema.Struct({ name: Schema.String, arguments: Schema.String })
})
const Content = Schema.Union([
  Schema.String,
  Schema.Array(Schema.Struct({ text: Schema.optional(Schema.String) })),
  Schema.Null
])
const Message = Schema.Struct({
  role: Schema.String,
  content: Schema.optional(Content),
  tool_calls: Schema.optional(Schema.Array(Call)),
  tool_call_id: Schema.optional(Schema.String)
})
const Request = Schema.fromJsonString(
  Schema.Struct({
    model: Schema.String,
    messages: Schema.Array(Message),
    tools: Schema.optional(Schema.Array(Fields)),
    max_tokens: Schema.optional(Schema.Number),
    reasoning_effort: Schema.optional(Schema.String)
  })
)
type Request = typeof Request.Type
const decodeRequest = Schema.decodeUnknownSync(Request)

const decodeError = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ error: Schema.String })))

/** Returns the window that a request needs; undefined if the default suffices. `most` is the model's maximum. */
export const windowFor = (
  characters: number,
  output: number | undefined,
  most: number | undefined
): number | undefined => {
  const needed = Math.ceil(characters / charsPerToken) + (output ?? assumedOutput)
  if (Math.ceil(characters / charsPerToken) + (output ?? 0) <= usualWindow) return undefined
  let window = smallestWindow
  while (window < needed) window *= 2
  return most === undefined ? window : Math.min(window, most)
}

/** `most` is the model's configured window. */
export const ollamaFetch =
  (fetch: FetchFunction, base: string, most: number | undefined): FetchFunction =>
  async (input, init) => {
    const body = typeof init?.body === "string" ? init.body : ""
    const minimum = windowFor(body.length, undefined, most)
    if (minimum === undefined) return await fetch(input, init)
    const request = decodeRequest(body)
    const window = windowFor(body.length, request.max_tokens, most) ?? minimum
    const response = await fetch(`${base.replace(/\/v1$/, "")}/api/chat`, {
      ...init,
      body: JSON.stringify(nativeRequest(request, window))
    })
    const { body: responseBody, ok, status } = response
    const headers = new Headers(response.headers)
    if (ok && responseBody !== null) {
      headers.set("content-type", "text/event-stream")
      return new Response(toEventStream(responseBody), { status, headers })
    }
    const text = await response.text()
    const error = decodeError(text)
    headers.set("content-type", "application/json")
    return new Response(Option.isNone(error) ? text : JSON.stringify({ error: { message: error.value.error } }), {
      status,
      headers
    })
  }

const toText = (content: typeof Content.Type | undefined): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("")

const nativeRequest = (request: Request, window: number) => {
  const names = new Map(
    request.messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call.function.name] as const))
  )
  const effort = request.reasoning_effort
  return {
    model: request.model,
    stream: true,
    messages: request.messages.map(({ content, role, tool_call_id, tool_calls }) => ({
      role,
      content: toText(content),
      ...(tool_call_id === undefined ? {} : { tool_name: names.get(tool_call_id) ?? tool_call_id }),
      ...(tool_calls === undefined
        ? {}
        : {
            tool_calls: tool_calls.map((call) => ({
              function: { name: call.function.name, arguments: toInput(call.function.arguments) }
            }))
          })
    })),
    ...(request.tools === undefined ? {} : { tools: request.tools }),
    ...(effort === undefined ? {} : { think: ["low", "medium", "high"].includes(effort) ? effort : effort !== "none" }),
    options: { num_ctx: window, ...(request.max_tokens === undefined ? {} : { num_predict: request.max_tokens }) }
  }
}

/** Arguments that are not JSON are returned to the model verbatim. */
const toInput = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return { text }
  }
}
