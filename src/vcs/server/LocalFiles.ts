/** Reads files of a working copy on this machine. Links are their targets and are never followed, also not as a folder of a path. */
import { copyFile, lstat, mkdir, open, readlink, realpath } from "node:fs/promises"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { CheckoutError } from "../Checkout.ts"
import { io } from "../git/Mirror.ts"
import { isProper } from "./SourceCheckout.ts"

/** Text of a link in a system: the target, or a form of its own. */
type LinkText = (target: string) => string

interface LocalFile {
  readonly file: string
  readonly bytes: number
  readonly isLink: boolean
}

/** Clients report paths: one that leaves the working copy does not exist. */
const findLocal = async (root: string, path: string): Promise<LocalFile | undefined> => {
  if (!isProper(path)) return undefined
  const file = join(root, path)
  const found = await lstat(file).catch(() => undefined)
  if (found === undefined || !(found.isFile() || found.isSymbolicLink())) return undefined
  const folder = await realpath(dirname(file))
  return folder === dirname(join(await realpath(root), path))
    ? { file, bytes: found.size, isLink: found.isSymbolicLink() }
    : undefined
}

/** Returns the bytes of each file, in order; 0 for those that do not exist. */
export const localSizes = (
  root: string,
  paths: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<number>, CheckoutError> =>
  io("working copy", async () => {
    const sizes: Array<number> = []
    for (const path of paths) sizes.push((await findLocal(root, path))?.bytes ?? 0)
    return sizes
  })

/** Undefined: there is no such file, or it is larger. It may grow while it is read; no more than `maxBytes` are. */
export const readLocalFile = (
  root: string,
  path: string,
  maxBytes: number,
  linkText: LinkText
): Effect.Effect<Buffer | undefined, CheckoutError> =>
  io("working copy", async () => {
    const found = await findLocal(root, path)
    if (found === undefined || found.bytes > maxBytes) return undefined
    if (found.isLink) return Buffer.from(linkText(await readlink(found.file)))
    const handle = await open(found.file, "r")
    try {
      const content = Buffer.alloc(found.bytes)
      let read = 0
      while (read < content.length) {
        const { bytesRead } = await handle.read(content, read, content.length - read, read)
        if (bytesRead === 0) break
        read += bytesRead
      }
      return content.subarray(0, read)
    } finally {
      await handle.close()
    }
  })

/** Returns the MD5 of a regular file in hexadecimal capitals, as servers of Perforce list it. */
export const localDigest = (root: string, path: string): Effect.Effect<string | undefined, CheckoutError> =>
  io("working copy", async () => {
    const found = await findLocal(root, path)
    if (found === undefined || found.isLink) return undefined
    const hash = createHash("md5")
    for await (const chunk of createReadStream(found.file)) hash.update(chunk)
    return hash.digest("hex").toUpperCase()
  })

/** Copies regular files into a folder, for a search. Fails with `limit` when they are larger than `maxBytes`. */
export const copyLocalFiles = Effect.fnUntraced(function* (
  root: string,
  paths: Iterable<string>,
  folder: string,
  maxBytes: number
): Effect.fn.Return<void, CheckoutError> {
  let bytes = 0
  for (const path of paths) {
    const copied = yield* io("copy of the working copy", async () => {
      const found = await findLocal(root, path)
      if (found === undefined || found.isLink || bytes + found.bytes > maxBytes) return found?.bytes ?? 0
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await copyFile(found.file, join(folder, path))
      return found.bytes
    })
    bytes += copied
    if (bytes > maxBytes) {
      return yield* new CheckoutError({
        reason: "limit",
        why: { _tag: "FolderOverSize", path: root, limit: Math.floor(maxBytes / 1_048_576) }
      })
    }
  }
})
