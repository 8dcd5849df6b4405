/** The text of a response that was passed through, with which an agent can get the same response again. */
import type { WireFormat } from "../WireGateway.ts"
import { isJson } from "./WireJson.ts"

/** Longer ones are not kept. */
const maxLength = 1_000_000

export class WireBytes {
  readonly format: WireFormat
  readonly streams: boolean
  /** Undefined if it is too long. */
  readonly text: string | undefined

  constructor(format: WireFormat, streams: boolean, text: string | undefined) {
    this.format = format
    this.streams = streams
    this.text = text
  }
}

/** Collects the text while it arrives. */
export class WireText {
  readonly #pieces: Array<Uint8Array | string> = []
  #length = 0

  add(piece: Uint8Array | string): void {
    this.#length += piece.length
    if (this.#length <= maxLength) this.#pieces.push(piece)
  }
  get text(): string | undefined {
    if (this.#length > maxLength) return undefined
    return Buffer.concat(this.#pieces.map((piece) => Buffer.from(piece as Uint8Array))).toString("utf8")
  }
}

export const recordBytes = ({ format, streams, text }: WireBytes) => ({ wire: { format, streams, text } })

/** Returns the recorded bytes; undefined if it is another form of a response. */
export const restoreBytes = (recorded: unknown): Pick<WireBytes, "format" | "streams" | "text"> | undefined => {
  const wire = isJson(recorded) ? recorded["wire"] : undefined
  if (!isJson(wire)) return undefined
  const { format, streams, text } = wire
  return new WireBytes(format as WireFormat, streams === true, typeof text === "string" ? text : undefined)
}
