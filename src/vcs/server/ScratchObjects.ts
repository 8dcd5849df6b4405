/**
 * A small git repository for the files of one change, so that git computes their diff: binary-safe, with renames, within limits of
 * memory and time. It is written without a process and removed with the scope; the name of its folder identifies the owner.
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
import type { ProcessLimits } from "../ProcessLimits.ts"
import { makePrivateFolder } from "./PrivateFolder.ts"

const compress = promisify(deflate)
const decompress = promisify(inflate)

/** Overrides every `.gitattributes`: no conversion, no driver. */
const attributes = "* -text !eol -ident !filter !working-tree-encoding !diff !merge\n"

export interface ScratchObjects extends Mirror {
  /** Folder of further files of this checkout. */
  readonly folder: string
  /** Stores a file and returns its id. */
  readonly write: (content: Uint8Array) => Effect.Effect<string, CheckoutError>
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
  return {
    directory,
    folder,
    limits,
    exclusive: (effect) => effect,
    write: (content) =>
      io("checkout", async () => {
        const object = Buffer.concat([Buffer.from(`blob ${content.length}\0`), content])
        const id = createHash("sha1").update(object).digest("hex")
        const prefix = id.slice(0, 2)
        const making = folders.get(prefix) ?? mkdir(join(directory, "objects", prefix), { recursive: true })
        folders.set(prefix, making)
        await making
        await writeFile(fileOf(id), await compress(object, { level: 1 }))
        return id
      }),
    read: (id) =>
      io("checkout", async () => {
        const object = await decompress(await readFile(fileOf(id)))
        return object.subarray(object.indexOf(0) + 1)
      })
  }
})
