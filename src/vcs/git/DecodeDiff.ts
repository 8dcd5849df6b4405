/**
 * Converts a diff to UTF-8, file by file: git compares bytes, and a file may be in another encoding. The encoding is decided by the whole file
 * on each side, as where its text is read, so that lines of the diff and of the file have the same text.
 */
import { isUtf8 } from "node:buffer"
import { Effect, Stream } from "effect"
import { decodeLegacy, detectEncoding } from "../../domain/LegacyText.ts"
import type { LegacyEncoding } from "../../domain/LegacyText.ts"

/** Reads an object; undefined if it is larger. */
type ReadBlob<E> = (id: string, maxBytes: number) => Effect.Effect<Uint8Array | undefined, E>

/** Larger files are judged by the lines of their diff. */
const maxBlobBytes = 4_194_304
/** Bytes of one file in the diff; a larger one is not converted. */
const maxSectionBytes = 33_554_432
const boundary = Buffer.from("\ndiff --git ")

/** Divides the bytes of a diff into those of its files. */
class Sections {
  #held: Array<Buffer> = []
  #bytes = 0
  /** May be the beginning of a boundary. */
  #tail: Buffer = Buffer.alloc(0)

  push(chunk: Uint8Array): ReadonlyArray<Buffer> {
    const sections: Array<Buffer> = []
    let rest = Buffer.concat([this.#tail, chunk])
    for (let at = rest.indexOf(boundary); at >= 0; at = rest.indexOf(boundary)) {
      this.#hold(rest.subarray(0, at + 1))
      sections.push(this.#take())
      rest = rest.subarray(at + 1)
    }
    const end = Math.max(0, rest.length - boundary.length + 1)
    this.#hold(rest.subarray(0, end))
    this.#tail = rest.subarray(end)
    return this.#bytes > maxSectionBytes ? [...sections, this.#take()] : sections
  }

  end(): ReadonlyArray<Buffer> {
    this.#hold(this.#tail)
    return [this.#take()]
  }

  #hold(part: Buffer): void {
    this.#held.push(part)
    this.#bytes += part.length
  }

  #take(): Buffer {
    const section = Buffer.concat(this.#held)
    this.#held = []
    this.#bytes = 0
    return section
  }
}

export const decodeDiff =
  <E>(read: ReadBlob<E>) =>
  (diff: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E> =>
    Stream.suspend(() => {
      const sections = new Sections()
      const decodeAll = (found: ReadonlyArray<Buffer>) =>
        found.every((section) => isUtf8(section))
          ? Effect.succeed<Uint8Array>(Buffer.concat(found))
          : Effect.map(
              Effect.forEach(found, (section) => decodeSection(read, section)),
              (all): Uint8Array => Buffer.concat(all)
            )
      return diff.pipe(
        Stream.mapEffect((chunk) => decodeAll(sections.push(chunk))),
        Stream.concat(Stream.fromEffect(Effect.suspend(() => decodeAll(sections.end())))),
        Stream.filter((chunk) => chunk.length > 0)
      )
    })

const newLine = 10
const [space, minus, plus, at] = [32, 45, 43, 64]

const decodeSection = <E>(read: ReadBlob<E>, section: Buffer): Effect.Effect<Buffer, E> => {
  if (isUtf8(section)) return Effect.succeed(section)
  const header = section.toString("latin1", 0, Math.min(section.length, 65_536))
  const [, oldId = "", newId = ""] = /^index ([0-9a-f]{40,64})\.\.([0-9a-f]{40,64})/m.exec(header) ?? []
  return Effect.gen(function* () {
    const before = yield* encodingOf(read, oldId, section, minus)
    const after = yield* encodingOf(read, newId, section, plus)
    return before === undefined && after === undefined ? section : convert(section, before, after)
  })
}

/** Returns undefined for UTF-8, and for bytes in no encoding. */
const encodingOf = <E>(read: ReadBlob<E>, id: string, section: Buffer, side: number) => {
  const blob = id === "" || /^0+$/.test(id) ? Effect.undefined : read(id, maxBlobBytes)
  return Effect.map(blob, (found): LegacyEncoding | undefined => {
    const bytes =
      found ?? Buffer.concat(listLines(section).filter(({ 0: prefix }) => prefix === space || prefix === side))
    return isUtf8(bytes) ? undefined : detectEncoding(bytes)
  })
}

/** Lines with their ends. */
const listLines = (section: Buffer): ReadonlyArray<Buffer> => {
  const lines: Array<Buffer> = []
  for (let from = 0; from < section.length;) {
    const end = section.indexOf(newLine, from)
    const next = end < 0 ? section.length : end + 1
    lines.push(section.subarray(from, next))
    from = next
  }
  return lines
}

const convert = (section: Buffer, before: LegacyEncoding | undefined, after: LegacyEncoding | undefined): Buffer => {
  let isHunk = false
  const lines = listLines(section).map((line) => {
    const [prefix] = line
    isHunk ||= prefix === at
    // A line of both sides has the same bytes in both.
    const encoding = prefix === minus ? before : prefix === plus ? after : (after ?? before)
    return isHunk && encoding !== undefined ? Buffer.from(decodeLegacy(encoding, line), "utf8") : line
  })
  return Buffer.concat(lines)
}
