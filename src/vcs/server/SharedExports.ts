/**
 * Exports of further repositories, shared by the reviews of a node and kept for a while after the last one, because every review of a
 * workspace reads the same revision.
 */
import { mkdir, lstat, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, RcMap } from "effect"
import { CheckoutError } from "../Checkout.ts"
import type { Mount, MountedEntry } from "../ContextRepositories.ts"
import { io } from "../git/Mirror.ts"
import { makeScratchObjects } from "./ScratchObjects.ts"
import type { SourceCheckoutOptions } from "./SourceCheckout.ts"
import { decodeText } from "../../domain/TextContent.ts"
import { isProper } from "./SourceCheckout.ts"
import { searchFolder } from "./SearchFolder.ts"
import type { ScratchObjects } from "./ScratchObjects.ts"

/** A further repository that was exported into a folder. Links are reported and never followed. */

const refused = (why: string): MountedEntry => ({ _tag: "Refused", why })

const mountFolder = (scratch: ScratchObjects, folder: string, revision: string): Mount => {
  const searching = searchFolder(scratch)
  return {
    commit: revision,
    read: (path, limits) => readEntry(folder, path, limits),
    search: {
      filesWith: (search, limit) => searching.filesWith(folder, search, limit),
      filesUnder: (under, limit) => searching.filesUnder(folder, under, limit)
    }
  }
}

const readEntry = (
  folder: string,
  path: string,
  { maxBytes, maxNames }: { readonly maxBytes: number; readonly maxNames: number }
): Effect.Effect<MountedEntry, CheckoutError> =>
  io("context repository", async (): Promise<MountedEntry> => {
    if (path !== "" && !isProper(path)) return refused("no such file or directory")
    // Every folder on the way has to be a folder itself.
    let at = folder
    let found = await lstat(at)
    for (const part of path === "" ? [] : path.split("/")) {
      if (!found.isDirectory()) return refused("no such file or directory")
      at = join(at, part)
      const next = await lstat(at).catch(() => undefined)
      if (next === undefined) return refused("no such file or directory")
      if (next.isSymbolicLink()) return refused("it is a symbolic link, which is not followed")
      found = next
    }
    if (found.isFile()) {
      const text = found.size > maxBytes ? undefined : decodeText(await readFile(at))
      return text === undefined ? refused("it is not text, or it is too large") : { _tag: "File", text }
    }
    const entries = await readdir(at, { withFileTypes: true })
    const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted()
    return { _tag: "Directory", names: names.slice(0, maxNames), more: Math.max(0, names.length - maxNames) }
  })

export interface Export {
  /** Identifies the server, the user, the folder and the revision. */
  readonly key: string
  readonly revision: string
  readonly maxBytes: number
  readonly exportTo: (folder: string) => Effect.Effect<void, CheckoutError>
}

const idleTimeToLive = "10 minutes"

export const makeSharedExports = Effect.fnUntraced(function* ({ limits, root }: SourceCheckoutOptions) {
  /** Requests of the keys that are being looked up. */
  const wanted = new Map<string, Export>()
  const exports = yield* RcMap.make({
    idleTimeToLive,
    lookup: (key: string) =>
      Effect.gen(function* () {
        const request = wanted.get(key)
        if (request === undefined) return yield* Effect.die(new Error("an export without a request"))
        const scratch = yield* makeScratchObjects(root, limits())
        const folder = join(scratch.folder, "tree")
        yield* io("context repository", () => mkdir(folder))
        yield* request.exportTo(folder)
        return mountFolder(scratch, folder, request.revision)
      })
  })
  return (request: Export) =>
    Effect.suspend(() => {
      const key = `${request.key} ${request.maxBytes}`
      wanted.set(key, request)
      return RcMap.get(exports, key).pipe(
        Effect.onError(() => RcMap.invalidate(exports, key)),
        Effect.ensuring(Effect.sync(() => wanted.delete(key))),
        Effect.map((mount): Mount => mount)
      )
    })
})
