/** A further repository that was exported into a folder. Links are reported and never followed. */
import { lstat, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { decodeText } from "../../domain/TextContent.ts"
import type { CheckoutError } from "../Checkout.ts"
import type { Mount, MountedEntry } from "../ContextRepositories.ts"
import { io } from "../git/Mirror.ts"
import { isProper } from "./SourceCheckout.ts"
import { searchFolder } from "./SearchFolder.ts"
import type { ScratchObjects } from "./ScratchObjects.ts"

const refused = (why: string): MountedEntry => ({ _tag: "Refused", why })

export const mountFolder = (scratch: ScratchObjects, folder: string, revision: string): Mount => {
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
