/**
 * A change shown commit by commit: the files of each commit that belong to it, and changes that no single commit shows,
 * such as the resolution of a merge. Pure.
 */
import type { FileDiff, FileHeader } from "./FileDiff.ts"

export interface Lineage {
  /** Paths of a commit that may belong to the change: by name, or as the source of a rename. */
  readonly candidates: <A extends Pick<FileHeader, "path" | "status">>(listed: ReadonlyArray<A>) => ReadonlyArray<A>
  /** Whether a file of the commit's diff belongs to it. */
  readonly belongs: (file: FileHeader) => boolean
}

/**
 * Selects the patches of commits, which come from the newest to the oldest: keeps reviewed files, under the names that
 * they had at the time. A file of a commit belongs to the change when the change has its name, or a later commit of it
 * renamed it.
 */
export const keepLineage = (files: ReadonlyArray<FileHeader>, maxDeleted: number): Lineage => {
  const names = new Set(files.map(({ path }) => path))
  return {
    candidates: (listed) => {
      const found: Array<(typeof listed)[number]> = []
      let deleted = 0
      for (const one of listed) {
        if (names.has(one.path) || (one.status === "deleted" && deleted++ < maxDeleted)) found.push(one)
      }
      return found
    },
    belongs: ({ path, oldPath, status }) => {
      if (!names.has(path)) return false
      if (status === "renamed" && oldPath !== undefined) names.add(oldPath)
      return true
    }
  }
}

/** Returns files of the whole change with changed lines that no commit shows, in their final form. */
export const unshown = (files: ReadonlyArray<FileDiff>, shown: ReadonlyArray<FileDiff>): ReadonlyArray<FileDiff> => {
  const known = new Set<string>()
  for (const { hunks } of shown) {
    for (const hunk of hunks) {
      for (const line of hunk.lines) {
        known.add(line)
      }
    }
  }
  const left: Array<FileDiff> = []
  for (const file of files) {
    if (hasOther(file, known)) left.push(file)
  }
  return left
}

const hasOther = ({ hunks }: FileDiff, known: ReadonlySet<string>): boolean => {
  for (const hunk of hunks) {
    for (const line of hunk.lines) {
      if (line[0] !== " " && !known.has(line)) return true
    }
  }
  return false
}
