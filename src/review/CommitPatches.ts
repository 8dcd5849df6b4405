/**
 * A change shown commit by commit: which files of each commit belong to it, and what no single commit shows, such as the
 * resolution of a merge. Pure.
 */
import type { FileDiff, FileHeader } from "./FileDiff.ts"
import { linesIn } from "./HunkText.ts"
import { meter } from "./Steps.ts"
import type { Steps } from "./Steps.ts"

/** Which commit of the range a patch is from. */
export interface CommitLabel {
  /** 1-based, oldest first. */
  readonly index: number
  readonly of: number
  readonly id: string
  readonly title: string
}

/**
 * For commits from the newest to the oldest: keeps files that are reviewed, under the names that they had at the time. A file
 * of a commit belongs to the change when the change has its name, or a later commit of it renamed it.
 */
export const keepLineage = (files: ReadonlyArray<FileHeader>): ((file: FileHeader) => boolean) => {
  const names = new Set(files.map(({ path }) => path))
  return ({ path, oldPath, status }) => {
    if (!names.has(path)) return false
    if (status === "renamed" && oldPath !== undefined) names.add(oldPath)
    return true
  }
}

/** Files of the whole change with changed lines that no commit shows: they are shown as they came out. */
export function* unshown(
  files: ReadonlyArray<FileDiff>,
  shown: ReadonlyArray<FileDiff>
): Steps<ReadonlyArray<FileDiff>> {
  const enough = meter()
  const known = new Set<string>()
  for (const { hunks } of shown) {
    for (const hunk of hunks) {
      for (const line of yield* linesIn(hunk)) {
        known.add(line)
        if (enough(line.length)) yield
      }
      if (enough(0)) yield
    }
    if (enough(0)) yield
  }
  const left: Array<FileDiff> = []
  for (const file of files) {
    if (yield* hasOther(file, known)) left.push(file)
    yield
  }
  return left
}

function* hasOther({ hunks }: FileDiff, known: ReadonlySet<string>): Steps<boolean> {
  const enough = meter()
  for (const hunk of hunks) {
    for (const line of yield* linesIn(hunk)) {
      if (line[0] !== " " && !known.has(line)) return true
      if (enough(line.length)) yield
    }
    if (enough(0)) yield
  }
  return false
}
