/** Splits a stream of server-sent events into the JSON of their data, in linear time and with bounded memory. */
import { StringDecoder } from "node:string_decoder"
import { ResponseTooLarge } from "../calls/Silence.ts"
import { isJson } from "./WireJson.ts"
import type { WireJson } from "./WireJson.ts"

/** Maximum characters of one event. */
const maxEventChars = 8 * 1024 * 1024

export class SseEvents {
  readonly #decoder = new StringDecoder("utf8")
  /** Pieces of the line that has not ended. */
  #line: Array<string> = []
  #data: Array<string> = []
  #held = 0
  /** True after the last event of a chat completions stream. */
  isDone = false

  /** Returns the events that end in this part of the stream. Data that is not a JSON object is ignored. */
  read(chunk: Uint8Array): ReadonlyArray<WireJson> {
    const text = this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))
    const events: Array<WireJson> = []
    let from = 0
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      this.#endLine(text.slice(from, at), events)
      from = at + 1
    }
    this.#hold(text.slice(from))
    return events
  }

  /** Returns the event at the end of a stream whose last line has not ended. */
  end(): ReadonlyArray<WireJson> {
    const events: Array<WireJson> = []
    this.#endLine(this.#decoder.end(), events)
    this.#endLine("", events)
    return events
  }

  #hold(part: string): void {
    if (part === "") return
    this.#held += part.length
    if (this.#held > maxEventChars) throw new ResponseTooLarge(`${maxEventChars / 1024 / 1024} MiB in one event`)
    this.#line.push(part)
  }

  #endLine(rest: string, events: Array<WireJson>): void {
    this.#hold(rest)
    const line = this.#line.join("").replace(/\r$/, "")
    this.#line = []
    if (line.startsWith("data:")) {
      this.#data.push(line.slice(5))
      return
    }
    if (line !== "") return
    const data = this.#data.join("\n").trim()
    this.#data = []
    this.#held = 0
    if (data === "[DONE]") this.isDone = true
    const event = parse(data)
    if (event !== undefined) events.push(event)
  }
}

const parse = (data: string): WireJson | undefined => {
  if (!data.startsWith("{")) return undefined
  try {
    const value: unknown = JSON.parse(data)
    return isJson(value) ? value : undefined
  } catch {
    return undefined
  }
}
