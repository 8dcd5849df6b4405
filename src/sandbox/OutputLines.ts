/** Splits the output of a program into lines, as fast as the reader takes them. */
import type { Readable } from "node:stream"
import { StringDecoder } from "node:string_decoder"

/** Characters of a line; the rest of a longer one is dropped. */
export const maxLineChars = 1_048_576

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
  let line = ""
  try {
    for await (const chunk of output.iterator({ destroyOnReturn: false })) {
      count(chunk)
      if (isOver()) break
      const lines = decoder.write(chunk).split("\n")
      const rest = lines.pop() ?? ""
      const [first, ...others] = lines
      if (first === undefined) {
        line = cut(line + rest)
        continue
      }
      const complete = [cut(line + first), ...others.map(cut)]
      line = cut(rest)
      yield complete
    }
  } catch (cause) {
    if (!output.destroyed) throw cause
  }
  // What is still in the pipe must not block the end of its program.
  output.resume()
  if (line !== "") yield [line]
}

const cut = (line: string): string => line.slice(0, maxLineChars)
