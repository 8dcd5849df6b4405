/** Divides long replies into parts, because agents cut long ones before the model sees them. Pure, in linear time. */

/** Room for the note behind a part. */
const noteBytes = 200

/** Divides at the ends of lines where that is possible. Every part has at most `maxBytes` bytes and at least one character. */
export const divide = (text: string, maxBytes: number): ReadonlyArray<string> => {
  const bytes = Buffer.from(text)
  const parts: Array<string> = []
  for (let from = 0; from < bytes.length;) {
    let until = Math.min(bytes.length, from + Math.max(4, maxBytes))
    if (until < bytes.length) {
      const line = bytes.subarray(from, until).lastIndexOf(10)
      if (line > 0) until = from + line + 1
      // Not in the middle of a character.
      else while (((bytes[until] ?? 0) & 0xc0) === 0x80) until--
    }
    parts.push(bytes.toString("utf8", from, until))
    from = until
  }
  return parts.length === 0 ? [""] : parts
}

/** Replies of the last calls that have more than one part. */
export class ReplyParts {
  readonly #maxBytes: number
  readonly #kept = new Map<string, ReadonlyArray<string>>()

  constructor(maxReplyBytes: number) {
    this.#maxBytes = maxReplyBytes
  }

  /** Returns a part of a reply to the same call before, undefined if it is not kept. `part` counts from 1. */
  take(key: string, part: number): string | undefined {
    const parts = this.#kept.get(key)
    return parts === undefined ? undefined : this.#note(parts, part)
  }

  /** Returns the requested part of a new reply. */
  add(key: string, text: string, part: number): string {
    this.#kept.delete(key)
    if (Buffer.byteLength(text) <= this.#maxBytes)
      return part <= 1 ? text : "error: the reply has one part; call the tool without `part`"
    const parts = divide(text, this.#maxBytes - noteBytes)
    this.#kept.set(key, parts)
    for (const [oldest] of this.#kept) {
      if (this.#kept.size <= maxKept) break
      this.#kept.delete(oldest)
    }
    return this.#note(parts, part)
  }

  #note(parts: ReadonlyArray<string>, part: number): string {
    const text = parts[part - 1]
    if (text === undefined) return `error: the reply has ${parts.length} parts`
    const place = `part ${part} of ${parts.length}`
    return part === parts.length
      ? `${text}\n[${place}]`
      : `${text}\n[${place}. For the next part, repeat this call with the additional argument "part": ${part + 1}]`
  }
}

const maxKept = 16
