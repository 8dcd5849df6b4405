/**
 * The identity of a file's patch: its names and modes and the lines of its hunks, without their numbers. A rebase that moves
 * the hunks leaves it as it is; any other line within them changes it. A generator, for patches are large: it yields now
 * and then. Pure.
 */
import { createHash } from "node:crypto"
import type { FileDiff } from "./FileDiff.ts"
import { bytesOf } from "./HunkText.ts"

/** A few milliseconds. */
const bytesPerTurn = 1_048_576

export function* patchId(file: FileDiff): Generator<void, string, void> {
  const { path, oldPath, status, oldMode, newMode } = file
  const hash = createHash("sha256").update(JSON.stringify([path, oldPath, status, oldMode, newMode]))
  let bytes = 0
  for (const hunk of file.hunks) {
    // No line of a hunk begins with @: what follows one header cannot be taken for another.
    hash.update(`\n@@${hunk.openEnd.old ? "-" : ""}${hunk.openEnd.new ? "+" : ""}\n`)
    for (const piece of bytesOf(hunk)) {
      hash.update(piece)
      bytes += piece.length
      if (bytes < bytesPerTurn) continue
      bytes = 0
      yield
    }
  }
  return hash.digest("hex").slice(0, 32)
}

/** Of every file; two patches of one path do not occur in a diff. */
export function* patchIds(files: ReadonlyArray<FileDiff>): Generator<void, ReadonlyMap<string, string>, void> {
  const ids = new Map<string, string>()
  let bytes = 0
  for (const file of files) {
    ids.set(file.path, yield* patchId(file))
    bytes += file.bytes
    if (bytes < bytesPerTurn) continue
    bytes = 0
    yield
  }
  return ids
}
