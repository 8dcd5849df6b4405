/** Writes zips, also such that no honest tool writes. */
import { crc32, deflateRawSync } from "node:zlib"

export interface ZipEntry {
  readonly name: string
  readonly content: string | Uint8Array
  /** Sizes that the zip claims instead of the real ones. */
  readonly claims?: { readonly size?: number }
  /** Compression method that the zip claims; 8 is deflate. */
  readonly method?: number
}

const localHeader = 0x04034b50
const centralHeader = 0x02014b50
const endRecord = 0x06054b50

export const makeZip = (entries: ReadonlyArray<ZipEntry>): Buffer => {
  const parts: Array<Buffer> = []
  const directory: Array<Buffer> = []
  let offset = 0
  for (const { claims, content, method = 8, name } of entries) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const nameBytes = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(claims?.size ?? bytes.length, 18)
    common.writeUInt16LE(nameBytes.length, 22)
    const local = Buffer.concat([uint32(localHeader), common, nameBytes, packed])
    const central = Buffer.concat([uint32(centralHeader), uint16(20), common, Buffer.alloc(14), nameBytes])
    central.writeUInt32LE(offset, 42)
    parts.push(local)
    directory.push(central)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(endRecord, 0)
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 8)
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, central, end])
}

const uint16 = (value: number): Buffer => {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
