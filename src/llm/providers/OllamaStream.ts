/**
 * Converts the streamed response of Ollama's own API, a JSON object per line, to the event stream of chat completions, line by line,
 * so that both are read in the same way.
 */
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

/** Returns the body as the event stream of chat completions. */
export const toEventStream = (body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> => {
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
