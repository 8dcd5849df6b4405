/**
 * The identity of a file's patch: its names and modes and the lines of its hunks, without their numbers. A rebase that
 * moves the hunks does not change it; any other line within them does. Pure.
 */
import { createHash } from "node:crypto"
import type { FileDiff } from "./FileDiff.ts"
import { toBytes } from "./HunkText.ts"

export const patchId = (file: FileDiff): string => {
  const { path, oldPath, status, oldMode, newMode } = file
  const hash = createHash("sha256").update(JSON.stringify([path, oldPath, status, oldMode, newMode]))
  for (const hunk of file.hunks) {
    // No line of a hunk begins with @, so the lines after a header cannot be mistaken for another header.
    hash.update(`\n@@${hunk.openEnd.old ? "-" : ""}${hunk.openEnd.new ? "+" : ""}\n`)
    for (const piece of toBytes(hunk)) {
      hash.update(piece)
    }
  }
  return hash.digest("hex").slice(0, 32)
}

/** Returns the identity of every file by path. A diff never has two patches of one path. */
export const patchIds = (files: ReadonlyArray<FileDiff>): ReadonlyMap<string, string> => {
  const ids = new Map<string, string>()
  for (const file of files) {
    ids.set(file.path, patchId(file))
  }
  return ids
}
