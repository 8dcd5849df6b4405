/**
 * A small git repository for the files of one change, so that git computes their diff: binary-safe, with renames, within limits of
 * memory and time. It is written without a process and removed with the scope; the name of its folder identifies the owner.
 *
 * Small files stay in memory up to a limit, because the analysis reads them again, and are stored together as packs.
 */
import { createHash } from "node:crypto"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { deflate, inflate, crc32, deflateSync } from "node:zlib"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import type { Mirror } from "../git/Mirror.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { makePrivateFolder } from "./PrivateFolder.ts"

/**
 * Makes a pack of git, version 2, with its index: many small files become two. Their contents are stored without compression, because the
 * pack is removed with its review. Pure.
 */
interface PackFile {
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

const compress = promisify(deflate)
const decompress = promisify(inflate)

/** Overrides every `.gitattributes`: no conversion, no driver. */
const attributes = "* -text !eol -ident !filter !working-tree-encoding !diff !merge\n"

export interface ScratchObjects extends Mirror {
  /** Folder of further files of this checkout. */
  readonly folder: string
  /** Stores a file and returns its id. Git finds it after `flush`. */
  readonly write: (content: Uint8Array) => Effect.Effect<string, CheckoutError>
  readonly flush: Effect.Effect<void, CheckoutError>
  /** Reads a stored file. */
  readonly read: (id: string) => Effect.Effect<Uint8Array, CheckoutError>
}

/** `root`: a folder whose subfolders are removed when the process in their name no longer runs. */
export const makeScratchObjects = Effect.fnUntraced(function* (
  root: string,
  limits: ProcessLimits
): Effect.fn.Return<ScratchObjects, CheckoutError, Scope.Scope> {
  const folder = yield* makePrivateFolder(root)
  const directory = join(folder, "repository")
  yield* io("checkout", async () => {
    await mkdir(join(directory, "objects"), { recursive: true })
    await mkdir(join(directory, "refs"))
    await mkdir(join(directory, "info"))
    await writeFile(join(directory, "info", "attributes"), attributes)
    await writeFile(join(directory, "HEAD"), "ref: refs/heads/none\n")
  })
  const fileOf = (id: string) => join(directory, "objects", id.slice(0, 2), id.slice(2))
  const folders = new Map<string, Promise<unknown>>()
  const writeAlone = (id: string, object: Buffer) =>
    io("checkout", async () => {
      const prefix = id.slice(0, 2)
      const making = folders.get(prefix) ?? mkdir(join(directory, "objects", prefix), { recursive: true })
      folders.set(prefix, making)
      await making
      await writeFile(fileOf(id), await compress(object, { level: 1 }))
    })
  const packs = makePacks(join(directory, "objects", "pack"))
  return {
    directory,
    folder,
    limits,
    exclusive: (effect) => effect,
    flush: packs.flush,
    write: (content) =>
      Effect.suspend(() => {
        const object = Buffer.concat([Buffer.from(`blob ${content.length}\0`), content])
        const id = createHash("sha1").update(object).digest("hex")
        return Effect.as(packs.add(id, content) ?? writeAlone(id, object), id)
      }),
    read: (id) =>
      Effect.suspend(() => {
        const kept = packs.kept.get(id)
        if (kept !== undefined) return Effect.succeed(kept)
        return io("checkout", async () => {
          const object = await decompress(await readFile(fileOf(id)))
          return object.subarray(object.indexOf(0) + 1)
        })
      })
  }
})

/** Size of a file that is kept in memory, of all of them, and of those that are packed together. */
const maxFileBytes = 65_536
const maxKeptBytes = 4_194_304
const maxPackBytes = 1_048_576

/** Keeps small files in memory until there are too many, and stores them as packs in the folder. */
const makePacks = (folder: string) => {
  const kept = new Map<string, Uint8Array>()
  let keptBytes = 0
  let pending = new Map<string, Uint8Array>()
  let pendingBytes = 0
  const flush = Effect.suspend(() => {
    if (pending.size === 0) return Effect.void
    const { index, name, pack } = makePack(pending)
    pending = new Map()
    pendingBytes = 0
    return io("checkout", async () => {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, `${name}.pack`), pack)
      await writeFile(join(folder, `${name}.idx`), index)
    })
  })
  return {
    kept,
    flush,
    /** Undefined: the file is not kept. */
    add: (id: string, content: Uint8Array): Effect.Effect<void, CheckoutError> | undefined => {
      if (kept.has(id)) return Effect.void
      if (content.length > maxFileBytes || keptBytes + content.length > maxKeptBytes) return undefined
      // The content may be a part of a larger buffer, which is not kept.
      const own = Uint8Array.from(content)
      kept.set(id, own)
      pending.set(id, own)
      keptBytes += own.length
      pendingBytes += own.length
      return pendingBytes < maxPackBytes ? Effect.void : flush
    }
  }
}
