/**
 * The identity of a file's patch: its names and modes and the lines of its hunks, without their numbers. A rebase that moves
 * the hunks leaves it as it is; any other line within them changes it. Pure.
 */
import { createHash } from "node:crypto"
import type { FileDiff } from "./FileDiff.ts"
import { bytesOf } from "./HunkText.ts"
import { meter } from "./Steps.ts"
import type { Steps } from "./Steps.ts"

/** What is hashed takes a fraction of what is read character by character. */
const share = 16

export function* patchId(file: FileDiff): Steps<string> {
  const { path, oldPath, status, oldMode, newMode } = file
  const enough = meter()
  const hash = createHash("sha256").update(JSON.stringify([path, oldPath, status, oldMode, newMode]))
  for (const hunk of file.hunks) {
    // No line of a hunk begins with @: what follows one header cannot be taken for another.
    hash.update(`\n@@${hunk.openEnd.old ? "-" : ""}${hunk.openEnd.new ? "+" : ""}\n`)
    for (const piece of bytesOf(hunk)) {
      hash.update(piece)
      if (enough(hashLength + piece.length / share)) yield
    }
  }
  return hash.digest("hex").slice(0, 32)
}

/** A hash to begin and to end, or a piece. */
const hashLength = 256

/** Of every file; two patches of one path do not occur in a diff. */
export function* patchIds(files: ReadonlyArray<FileDiff>): Steps<ReadonlyMap<string, string>> {
  const enough = meter()
  const ids = new Map<string, string>()
  for (const file of files) {
    ids.set(file.path, yield* patchId(file))
    if (enough(hashLength + file.bytes / share)) yield
  }
  return ids
}
