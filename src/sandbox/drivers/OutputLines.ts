/** Splits the output of a program into lines, as fast as the reader takes them. */
import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"

/** Characters of a line; the rest of a longer one is dropped. */
export const maxLineChars = 1_048_576

/** Collects lines from chunks of text. A line beyond its limit costs nothing, however small the chunks are. */
export class OutputLines {
  #line = ""

  /** Returns the lines that the text completes. */
  add(text: string): ReadonlyArray<string> {
    const lines = text.split("\n")
    const rest = lines.pop() ?? ""
    const [first, ...others] = lines
    if (first === undefined) {
      this.#line = this.#continued(rest)
      return []
    }
    const complete = [this.#continued(first), ...others.map(cut)]
    this.#line = cut(rest)
    return complete
  }

  /** Returns the last line, which has no end. */
  end(): ReadonlyArray<string> {
    return this.#line === "" ? [] : [this.#line]
  }

  /** Returns a full line unchanged, because cutting copies it. */
  #continued(text: string): string {
    return this.#line.length >= maxLineChars ? this.#line : cut(this.#line + text)
  }
}

/**
 * Returns the complete lines of each chunk. `isOver` ends them early, and so does the error of a stream that was destroyed with its
 * program.
 */
export async function* splitLines(
  output: Readable,
  count: (chunk: Buffer) => void,
  isOver: () => boolean
): AsyncGenerator<ReadonlyArray<string>> {
  const decoder = new StringDecoder("utf8")
  const lines = new OutputLines()
  try {
    for await (const chunk of output.iterator({ destroyOnReturn: false })) {
      count(chunk)
      if (isOver()) break
      const complete = lines.add(decoder.write(chunk))
      if (complete.length > 0) yield complete
    }
  } catch (cause) {
    if (!output.destroyed) throw cause
  }
  // What is still in the pipe must not block the end of its program.
  output.resume()
  const last = lines.end()
  if (last.length > 0) yield last
}

const cut = (line: string): string => line.slice(0, maxLineChars)
