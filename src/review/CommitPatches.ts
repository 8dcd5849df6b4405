/**
 * A change shown commit by commit: which files of each commit belong to it, and what no single commit shows, such as the
 * resolution of a merge. Pure.
 */
import type { FileDiff, FileHeader } from "./FileDiff.ts"

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
export const unshown = (files: ReadonlyArray<FileDiff>, shown: ReadonlyArray<FileDiff>): ReadonlyArray<FileDiff> => {
  const lines = new Set<string>()
  for (const { hunks } of shown) for (const hunk of hunks) for (const line of hunk.lines) lines.add(line)
  return files.filter(({ hunks }) =>
    hunks.some((hunk) => hunk.lines.some((line) => line[0] !== " " && !lines.has(line)))
  )
}
