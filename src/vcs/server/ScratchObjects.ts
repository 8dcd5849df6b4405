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
import { deflate, inflate } from "node:zlib"
import { Effect } from "effect"
import type { Scope } from "effect"
import type { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import type { Mirror } from "../git/Mirror.ts"
import type { ProcessLimits } from "../process/ProcessLimits.ts"
import { makePack } from "./PackFile.ts"
import { makePrivateFolder } from "./PrivateFolder.ts"

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
