/**
 * Reads the tagged output of p4 as it streams: flat objects, one per record, whose values are reported one by one. One record may list
 * hundreds of thousands of files, so that no record is held as a whole. Two forms: JSON (`-ztag -Mj`), and text (`-ztag`) of clients
 * without JSON. Linear, and bounded in memory: a value over the limit is cut. Values that are not UTF-8 keep their bytes (`RawText`).
 */
import { readRaw } from "./RawText.ts"

export interface FieldHandler {
  readonly field: (name: string, value: string) => void
  /** A record has ended. */
  readonly end: () => void
}

export interface RecordReader {
  readonly push: (bytes: Uint8Array) => void
  /** Throws for output that ends within a record. */
  readonly end: () => void
}

/** Characters of one value; the rest is dropped. */
const maxValue = 1_048_576
const maxName = 256

const escapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }

/** Each character is a byte. */
const toBinary = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")

type State = "outside" | "name" | "colon" | "value" | "bare" | "after"

/** Throws for anything but flat objects. */
export const makeJsonReader = (handle: FieldHandler): RecordReader => new JsonReader(handle)

class JsonReader implements RecordReader {
  readonly #handle: FieldHandler
  #state: State = "outside"
  /** Text of the open string; undefined outside of strings. */
  #text: string | undefined
  #escape: string | undefined
  #name = ""
  #bare = ""

  constructor(handle: FieldHandler) {
    this.#handle = handle
  }

  push(bytes: Uint8Array): void {
    this.#read(toBinary(bytes))
  }

  end(): void {
    if (this.#state !== "outside") throw new Error("it ends within a record")
  }

  #read(chunk: string): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#escape !== undefined) this.#escaped(chunk[at++] ?? "")
      else if (this.#text === undefined) this.#step(chunk[at++] ?? "")
      else {
        let stop = at
        while (stop < chunk.length && chunk[stop] !== '"' && chunk[stop] !== "\\") stop++
        if (stop > at) this.#append(chunk.slice(at, stop))
        if (chunk[stop] === '"') this.#endString()
        else if (stop < chunk.length) this.#escape = ""
        at = stop + 1
      }
    }
  }

  #append(piece: string): void {
    if (this.#text !== undefined && this.#text.length < maxValue) this.#text += piece
  }

  #endString(): void {
    const value = readRaw(this.#text ?? "")
    this.#text = undefined
    if (this.#state !== "name") {
      this.#handle.field(this.#name, value)
      this.#state = "after"
      return
    }
    if (value.length > maxName) throw new Error("a name is too long")
    this.#name = value
    this.#state = "colon"
  }

  #escaped(char: string): void {
    const escape = `${this.#escape ?? ""}${char}`
    this.#escape = escape
    if (escape.length === 1 && char !== "u") {
      this.#append(escapes[char] ?? char)
      this.#escape = undefined
    } else if (escape.length === 5) {
      const code = Number.parseInt(escape.slice(1), 16)
      const decoded = Number.isNaN(code) ? "\ufffd" : String.fromCharCode(code)
      this.#append(code < 0x100 ? toBinary(Buffer.from(decoded)) : decoded)
      this.#escape = undefined
    }
  }

  /** Handles one character that is not within a string. */
  #step(char: string): void {
    if (this.#state === "bare") {
      if (char !== "," && char !== "}") {
        if (this.#bare.length < 64) this.#bare += char
        return
      }
      this.#handle.field(this.#name, this.#bare.trim())
      this.#state = "after"
    }
    if (char === " " || char === "\n" || char === "\r" || char === "\t") return
    const state = this.#state
    if (state === "outside" && char === "{") this.#state = "name"
    else if ((state === "name" || state === "value") && char === '"') this.#text = ""
    else if ((state === "name" || state === "after") && char === "}") {
      this.#handle.end()
      this.#state = "outside"
    } else if (state === "colon" && char === ":") this.#state = "value"
    else if (state === "after" && char === ",") this.#state = "name"
    else if (state === "value" && !"{[,}".includes(char)) {
      this.#bare = char
      this.#state = "bare"
    } else throw new Error(`unexpected ${JSON.stringify(char)}`)
  }
}

/**
 * Reads `... name value` lines. A line of another form continues the value before it. A record ends before the first name of a record
 * occurs again, because values such as descriptions contain blank lines.
 *
 * Such values are chosen by authors and may contain lines that look like fields. So readers of text take the first of several values for
 * fields before the free text, and the last one for fields after it.
 */
export const makeTextReader = (handle: FieldHandler): RecordReader => {
  let rest = ""
  let first: string | undefined
  let name: string | undefined
  let value = ""

  const flush = (): void => {
    if (name !== undefined) handle.field(name, readRaw(value.replace(/\n$/, "")))
    name = undefined
    value = ""
  }
  const line = (text: string): void => {
    const [, found, content] = /^(?:\.\.\. ){1,3}([A-Za-z][\w,]*)(?: (.*))?$/s.exec(text) ?? []
    if (found === undefined) {
      if (name !== undefined && value.length < maxValue) value += `\n${text}`
      return
    }
    flush()
    if (found === first) handle.end()
    first ??= found
    name = found.slice(0, maxName)
    value = (content ?? "").slice(0, maxValue)
  }
  const read = (chunk: string): void => {
    let start = 0
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      line(`${rest}${chunk.slice(start, end)}`)
      rest = ""
      start = end + 1
    }
    rest += chunk.slice(start)
    if (rest.length > maxValue) {
      line(rest)
      rest = ""
    }
  }
  return {
    push: (bytes) => read(toBinary(bytes)),
    end: () => {
      if (rest !== "") line(rest)
      flush()
      if (first !== undefined) handle.end()
    }
  }
}
