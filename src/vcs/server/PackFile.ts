/**
 * Makes a pack of git, version 2, with its index: many small files become two. Their contents are stored without compression, because the
 * pack is removed with its review. Pure.
 */
import { createHash } from "node:crypto"
import { crc32, deflateSync } from "node:zlib"

export interface PackFile {
  /** Name in `objects/pack` without its suffix. */
  readonly name: string
  readonly pack: Buffer
  readonly index: Buffer
}

const blobType = 3
const idBytes = 20

const sha1 = (parts: ReadonlyArray<Uint8Array>): Buffer => {
  const hash = createHash("sha1")
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** `blobs`: contents by their ids, without duplicates. */
export const makePack = (blobs: ReadonlyMap<string, Uint8Array>): PackFile => {
  const parts: Array<Buffer> = [Buffer.concat([Buffer.from("PACK"), uint32s([2, blobs.size])])]
  let offset = parts[0]?.length ?? 0
  const entries: Array<{ readonly id: Buffer; readonly offset: number; readonly crc: number }> = []
  for (const [id, content] of blobs) {
    const entry = Buffer.concat([entryHeader(content.length), deflateSync(content, { level: 0 })])
    entries.push({ id: Buffer.from(id, "hex"), offset, crc: crc32(entry) })
    parts.push(entry)
    offset += entry.length
  }
  const checksum = sha1(parts)
  const index = makeIndex(
    entries.toSorted((a, b) => Buffer.compare(a.id, b.id)),
    checksum
  )
  return { name: `pack-${checksum.toString("hex")}`, pack: Buffer.concat([...parts, checksum]), index }
}

const uint32s = (values: ReadonlyArray<number>): Buffer => {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, 4 * at)
  return bytes
}

/** The type and the size: four bits of it, then seven in each further byte. */
const entryHeader = (size: number): Buffer => {
  const bytes: Array<number> = []
  let byte = (blobType << 4) | (size & 15)
  let rest = Math.floor(size / 16)
  while (rest > 0) {
    bytes.push(byte | 128)
    byte = rest & 127
    rest = Math.floor(rest / 128)
  }
  return Buffer.from([...bytes, byte])
}

const makeIndex = (
  entries: ReadonlyArray<{ readonly id: Buffer; readonly offset: number; readonly crc: number }>,
  checksum: Buffer
): Buffer => {
  const counts = Array.from({ length: 256 }, () => 0)
  for (const { id } of entries) counts[id[0] ?? 0] = (counts[id[0] ?? 0] ?? 0) + 1
  let sum = 0
  const body = Buffer.concat([
    Buffer.from([0xff, 0x74, 0x4f, 0x63]),
    uint32s([2, ...counts.map((count) => (sum += count))]),
    Buffer.concat(
      entries.map(({ id }) => id),
      idBytes * entries.length
    ),
    uint32s([...entries.map(({ crc }) => crc), ...entries.map(({ offset }) => offset)]),
    checksum
  ])
  return Buffer.concat([body, sha1([body])])
}
