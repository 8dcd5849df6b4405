/**
 * Reads files of a zip into memory. The author of a change can write the zip: every size in it is a claim, so the bytes that are
 * unpacked are counted, and no name in it leads anywhere. Unpacking runs in the thread pool of Node and does not block the event loop.
 */
import type { Entry, ZipFile } from "yauzl"
import { distinctReasons } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface ZipLimits {
  /** Entries that are listed, wanted or not. */
  readonly maxEntries: number
  /** Files that are unpacked, damaged ones included. */
  readonly maxFiles: number
  /** Unpacked bytes of one file, and of all. */
  readonly maxFileBytes: number
  readonly maxBytes: number
  /** Unpacked size of a file as a multiple of its packed size. */
  readonly maxRatio: number
}

interface ZipContent {
  readonly files: ReadonlyArray<Uint8Array>
  /** Reasons for which wanted files were not read, each once. */
  readonly unread: ReadonlyArray<Reason>
}

/** Never fails: a zip that cannot be read has no files, and the reason. */
export const readZip = async (
  bytes: Uint8Array,
  isWanted: (name: string) => boolean,
  limits: ZipLimits
): Promise<ZipContent> => {
  const yauzl = await import("yauzl")
  const files: Array<Uint8Array> = []
  const unread: Array<Reason> = []
  let zip: ZipFile | undefined
  try {
    // Names stay bytes: as text the library refuses the whole zip for one name with "..".
    zip = await yauzl.fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
      lazyEntries: true,
      decodeStrings: false,
      validateEntrySizes: true
    })
    let listed = 0
    // A file that turns out to be damaged has cost its unpacking, and many entries may share the same bytes.
    let opened = 0
    let left = limits.maxBytes
    for await (const entry of zip.eachEntry()) {
      if (++listed > limits.maxEntries) {
        unread.push({ _tag: "ZipEntriesOverLimit", limit: limits.maxEntries })
        break
      }
      const name = entry.fileNameRaw.toString("utf8")
      if (!isWanted(name)) continue
      const why = refusal(entry, yauzl.validateFileName(name), { ...limits, opened, left })
      if (why !== undefined) {
        unread.push(why)
        continue
      }
      opened++
      left -= entry.uncompressedSize
      const unpacked = await unpack(zip, entry).catch(() => undefined)
      if (unpacked === undefined) unread.push({ _tag: "ZipFileDamaged" })
      else files.push(unpacked)
    }
  } catch {
    unread.push({ _tag: "ZipUnreadable" })
  } finally {
    zip?.close()
  }
  return { files, unread: distinctReasons(unread) }
}

/** Returns why an entry is not unpacked, by its description in the zip. */
const refusal = (
  entry: Entry,
  invalidName: string | null,
  limits: ZipLimits & { readonly opened: number; readonly left: number }
): Reason | undefined => {
  const { compressedSize: packed, uncompressedSize: size } = entry
  if (invalidName !== null) return { _tag: "ZipPathInvalid" }
  if (!entry.canDecodeFileData()) return { _tag: "ZipFileEncrypted" }
  if (limits.opened >= limits.maxFiles) return { _tag: "ZipFilesOverLimit", limit: limits.maxFiles }
  if (size > limits.maxFileBytes) return { _tag: "ZipFileTooLarge", limit: limits.maxFileBytes }
  if (size > limits.maxRatio * Math.max(1, packed)) return { _tag: "ZipRatioOverLimit", limit: limits.maxRatio }
  if (size > limits.left) return { _tag: "ZipTooLarge", limit: limits.maxBytes }
  return undefined
}

/** Fails where the file has another size than its description: the library compares. */
const unpack = async (zip: ZipFile, entry: Entry): Promise<Uint8Array> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}
