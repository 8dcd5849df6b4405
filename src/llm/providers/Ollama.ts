/**
 * Ollama silently truncates a prompt to its context window, which is small unless a request sets it. Its OpenAI-compatible API
 * has no field for it: prompts that may exceed the default window are sent to its own API, and the streamed responses are converted.
 */
import type { FetchFunction } from "@ai-sdk/provider-utils"
import { Option, Schema } from "effect"

const Piece = Schema.Struct({
  model: Schema.optional(Schema.String),
  message: Schema.optional(
    Schema.Struct({
      content: Schema.optional(Schema.String),
      thinking: Schema.optional(Schema.String),
      tool_calls: Schema.optional(
        Schema.Array(Schema.Struct({ function: Schema.Struct({ name: Schema.String, arguments: Schema.Unknown }) }))
      )
    })
  ),
  done: Schema.optional(Schema.Boolean),
  done_reason: Schema.optional(Schema.String),
  prompt_eval_count: Schema.optional(Schema.Number),
  eval_count: Schema.optional(Schema.Number),
  error: Schema.optional(Schema.String)
})
type Piece = typeof Piece.Type
const decodePiece = Schema.decodeUnknownOption(Schema.fromJsonString(Piece))

/**
 * Converts the streamed response of Ollama's own API, a JSON object per line, to the event stream of chat completions, line by line,
 * so that both are read in the same way.
 *
 * Returns the body as the event stream of chat completions.
 */
const toEventStream = (body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> => {
  const text = new TextDecoder()
  const bytes = new TextEncoder()
  const lines = new Lines()
  const events = new EventsOfResponse()
  const send = (controller: TransformStreamDefaultController<Uint8Array>, complete: ReadonlyArray<string>): void => {
    for (const line of complete) {
      for (const event of events.read(line)) controller.enqueue(bytes.encode(`data: ${event}\n\n`))
    }
  }
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => send(controller, lines.add(text.decode(chunk, { stream: true }))),
      flush: (controller) => send(controller, lines.end())
    })
  )
}

/** Divides pieces of text into lines, in linear time. */
export class Lines {
  #open = ""

  /** Returns the lines that are complete with this piece. */
  add(piece: string): ReadonlyArray<string> {
    const [first = "", ...others] = piece.split("\n")
    // V8 joins the pieces once, when the line is read.
    this.#open += first
    const last = others.pop()
    if (last === undefined) return []
    const complete = [this.#open, ...others]
    this.#open = last
    return complete
  }
  /** Returns the last line. */
  end(): ReadonlyArray<string> {
    return [this.#open]
  }
}

/** Data of the events of one response. */
class EventsOfResponse {
  readonly #id = crypto.randomUUID()
  readonly #created = Math.floor(Date.now() / 1000)
  #calls = 0

  read(line: string): ReadonlyArray<string> {
    if (line.trim() === "") return []
    const piece = decodePiece(line)
    // The reader of the event stream fails on it, like on any other event that is not JSON.
    if (Option.isNone(piece)) return [JSON.stringify(line.slice(0, 300))]
    const { done, error, message, model } = piece.value
    if (error !== undefined) return [JSON.stringify({ error: { message: error } })]
    const chunk = (more: object): string =>
      JSON.stringify({ id: this.#id, object: "chat.completion.chunk", created: this.#created, model, ...more })
    const delta = (fields: object, finish_reason: string | null = null): string =>
      chunk({ choices: [{ index: 0, delta: fields, finish_reason }] })
    return [
      ...(message?.thinking ? [delta({ reasoning_content: message.thinking })] : []),
      ...(message?.content ? [delta({ content: message.content })] : []),
      ...(message?.tool_calls ?? []).map((call) =>
        delta({
          tool_calls: [
            {
              index: this.#calls++,
              id: `call_${crypto.randomUUID()}`,
              type: "function",
              function: { name: call.function.name, arguments: JSON.stringify(call.function.arguments) }
            }
          ]
        })
      ),
      ...(done === true
        ? [delta({}, this.#finishReason(piece.value)), chunk({ choices: [], usage: toUsage(piece.value) }), "[DONE]"]
        : [])
    ]
  }

  #finishReason({ done_reason }: Piece): string {
    if (done_reason === "length") return "length"
    return this.#calls > 0 ? "tool_calls" : "stop"
  }
}

const toUsage = ({ eval_count: output = 0, prompt_eval_count: input = 0 }: Piece) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output
})

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
