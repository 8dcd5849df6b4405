/**
 * Coverage of a change: the files that were read, and those that were not, because they were cut, have lines over the
 * limit, or belong to a pass that did not complete.
 */
import { unreadPaths } from "../domain/Coverage.ts"
import type { Coverage } from "../domain/Coverage.ts"
import type { Finding } from "../domain/Problem.ts"
import { readLength } from "../review/HunkText.ts"
import { unreadIf } from "../review/SelectFiles.ts"
import type { ReadChange } from "./ReadChange.ts"
import type { FileFacts } from "./work/ReadWork.ts"

/** Files and findings that carry over from an earlier review of the same target. */
export interface CarriedFiles {
  /** Files that are read in this review. */
  readonly files: ReadonlyArray<FileFacts>
  /** Files that are not read again. */
  readonly unchanged: ReadonlyArray<FileFacts>
  /** Findings in the files that are not read again, with their current lines. */
  readonly findings: ReadonlyArray<Finding>
}

export const coverageOf = ({ skipped }: ReadChange, { files, unchanged }: CarriedFiles): Coverage => ({
  reviewed: [...new Set(files.map(({ path }) => path))],
  skipped: [...skipped, ...unchanged.map(({ path }) => ({ path, reason: "unchanged" as const }))],
  lines: files.reduce((sum, { additions, deletions }) => sum + additions + deletions, 0)
})

/** Passes name files as they show them: a commit of the change may show a file under its earlier name. */
export const whyUnread = (
  { path, oldPath }: Pick<FileFacts, "path" | "oldPath">,
  unread: ReadonlyMap<string, "budget" | "failed">
): "budget" | "failed" | undefined => unread.get(path) ?? (oldPath === undefined ? undefined : unread.get(oldPath))

export const isAmong = ({ path, oldPath }: FileFacts, paths: ReadonlySet<string>): boolean =>
  paths.has(path) || (oldPath !== undefined && paths.has(oldPath))

const without = (
  coverage: Coverage,
  files: ReadonlyArray<FileFacts>,
  reason: "compressed" | "long_lines"
): Coverage => {
  const paths = new Set(files.map(({ path }) => path))
  return {
    ...coverage,
    reviewed: coverage.reviewed.filter((path) => !paths.has(path)),
    skipped: [
      ...coverage.skipped,
      ...files.map(({ path, additions }) => ({ path, reason, ...unreadIf(additions > 0) }))
    ]
  }
}

/** A file of which the end of an added line was not read. */
export const withoutLong = (
  coverage: Coverage,
  files: ReadonlyArray<FileFacts>,
  unread: ReadonlySet<string>
): Coverage => {
  const reviewed = new Set(coverage.reviewed)
  const left = files.filter((file) => reviewed.has(file.path) && isAmong(file, unread))
  return left.length === 0 ? coverage : without(coverage, left, "long_lines")
}

/** A file of which a hunk was cut was not read as a whole. `lines` are the changed lines that were shown. */
export const withoutCut = (
  coverage: Coverage,
  files: ReadonlyArray<FileFacts>,
  cut: ReadonlySet<string>,
  lines: number
): Coverage => {
  const left = files.filter((file) => isAmong(file, cut))
  return left.length === 0 ? coverage : { ...without(coverage, left, "compressed"), lines }
}

/** Files whose pass failed, or ended when the money was used up, are not among the reviewed ones. */
export const withoutUnread = (
  coverage: Coverage,
  files: ReadonlyArray<FileFacts>,
  unread: ReadonlyMap<string, "budget" | "failed">
): Coverage => {
  const left = files.flatMap((file) => {
    const reason = whyUnread(file, unread)
    return reason === undefined ? [] : [{ file, reason }]
  })
  const paths = new Set(left.map(({ file }) => file.path))
  return {
    reviewed: coverage.reviewed.filter((path) => !paths.has(path)),
    skipped: [
      ...coverage.skipped.filter(({ path }) => !paths.has(path)),
      ...left.map(({ file, reason }) => ({ path: file.path, reason, ...unreadIf(file.additions > 0) }))
    ],
    lines: Math.max(0, coverage.lines - left.reduce((sum, { file }) => sum + file.additions + file.deletions, 0))
  }
}

const maxNamed = 10

/** Returns notices that are always visible, because the list of skipped files is folded. */
export const unreadNotices = (coverage: Coverage): ReadonlyArray<string> => {
  const paths = unreadPaths(coverage)
  if (paths.length === 0) return []
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : ""
  const long = coverage.skipped.some(({ reason }) => reason === "long_lines")
  return [
    `The change adds text that was not read, in: ${paths.slice(0, maxNamed).join(", ")}${more}.`,
    ...(long ? [`Of a line ${readLength} characters are read.`] : [])
  ]
}
