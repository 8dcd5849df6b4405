/**
 * Coverage of a change: the files that were read, and those that were not or not as a whole, because they were cut, have
 * lines over the limit, or belong to a pass that did not complete.
 */
import { countUnread, unreadPaths } from "../../domain/Coverage.ts"
import type { Coverage, SkippedFile, Unusable } from "../../domain/Coverage.ts"
import type { FoldedFinding } from "../../domain/Analysis.ts"
import type { Finding } from "../../domain/Problem.ts"
import { readLength } from "../../review/HunkText.ts"
import { unreadIf } from "../../review/SelectFiles.ts"
import type { ReadChange } from "./ReadChange.ts"
import type { ShownPart } from "../work/PassWork.ts"
import type { FileFacts } from "../work/ReadWork.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Files and findings that carry over from an earlier review of the same target. */
export interface CarriedFiles {
  /** Files that are read in this review. */
  readonly files: ReadonlyArray<FileFacts>
  /** Files that are not read again. */
  readonly unchanged: ReadonlyArray<FileFacts>
  /** Findings in the files that are not read again, with their current lines. */
  readonly findings: ReadonlyArray<Finding>
  /** Late ones among them, which are not published. */
  readonly late: ReadonlyArray<Finding>
  /** Folded ones among them. */
  readonly folded: ReadonlyArray<FoldedFinding>
}

/** Reason why a pass did not get to read everything: the money was used up, it failed, or its responses were cut at their limit. */
export type EndedEarly = "budget" | "failed" | "output_limit"

/** Positions of the passes with something that could not be used, and what that was in all passes. */
export interface UnusableParts {
  readonly passes: ReadonlySet<number>
  readonly counts: ReadonlyArray<Unusable>
}

/** Parts of the change that the passes showed, and how these ended. */
interface ReadParts {
  readonly passes: ReadonlyArray<{ readonly parts: ReadonlyArray<ShownPart> }>
  /** Parts of the change that no pass showed. */
  readonly left: ReadonlyArray<ShownPart>
  /** Paths of files with lines that are longer than is read of a line. */
  readonly unread: ReadonlySet<string>
  readonly ended: ReadonlyMap<number, EndedEarly>
  readonly unusable: UnusableParts
  readonly blind: Pick<Coverage, "blind" | "framed">
}

export const measureCoverage = ({ skipped, unnamed }: ReadChange, { files, unchanged }: CarriedFiles): Coverage => {
  const lines = files.reduce((sum, file) => sum + linesOf(file), 0)
  return {
    reviewed: [...new Set(files.map(({ path }) => path))],
    skipped: [...skipped, ...unchanged.map(({ path }) => ({ path, reason: "unchanged" as const }))],
    lines,
    changed: lines,
    ...(Object.keys(unnamed.counts).length === 0
      ? {}
      : { unnamed: { reviewed: 0, skipped: unnamed.counts, unread: unnamed.unread } })
  }
}

const linesOf = ({ additions, deletions }: FileFacts): number => additions + deletions

/** Changed lines of a file in the passes; its patches in several commits may have more than the file itself. */
interface ReadLines {
  shown: number
  read: number
  ended?: EndedEarly
  isCut: boolean
  /** Whether reports about it could not be used. */
  isUnusable: boolean
}

/** Returns the coverage after the passes: per file the changed lines that were read, and why others were not. */
export const coverageAfter = (coverage: Coverage, files: ReadonlyArray<FileFacts>, parts: ReadParts): Coverage => {
  const lines = readLines(parts)
  const skipped: Array<SkippedFile> = []
  let read = 0
  for (const file of files) {
    const own = lines(file)
    const changed = linesOf(file)
    const reason = own.ended ?? (own.isUnusable ? "unusable" : own.isCut ? "compressed" : longLines(file, parts))
    const share = own.shown === 0 ? (own.ended === undefined ? 1 : 0) : own.read / own.shown
    const count = Math.floor(changed * share)
    read += count
    if (reason !== undefined) {
      // A lost report may be about removed lines as well.
      const unread = unreadIf(file.additions > 0 || reason === "unusable")
      skipped.push({ path: file.path, reason, ...unread, read: count, changed })
    }
  }
  const left = new Set(skipped.map(({ path }) => path))
  return {
    ...coverage,
    reviewed: coverage.reviewed.filter((path) => !left.has(path)),
    skipped: [...coverage.skipped, ...skipped],
    lines: read,
    ...(parts.unusable.counts.length === 0 ? {} : { unusable: parts.unusable.counts }),
    ...parts.blind
  }
}

/** Passes name files as they show them: a commit of the change may show a file under its earlier name. */
const readLines = ({ ended, left, passes, unusable }: ReadParts) => {
  const byPath = new Map<string, ReadLines>()
  const at = (path: string): ReadLines => {
    const lines = byPath.get(path) ?? { shown: 0, read: 0, isCut: false, isUnusable: false }
    byPath.set(path, lines)
    return lines
  }
  for (const [index, { parts }] of passes.entries()) {
    const reason = ended.get(index)
    for (const { path, lines } of parts) {
      const one = at(path)
      one.shown += lines
      one.isUnusable ||= unusable.passes.has(index)
      if (reason === undefined) one.read += lines
      else one.ended = reason
    }
  }
  for (const { path, lines } of left) {
    const one = at(path)
    one.shown += lines
    one.isCut = true
  }
  return ({ oldPath, path }: FileFacts): ReadLines => {
    const own = byPath.get(path)
    const old = oldPath === undefined ? undefined : byPath.get(oldPath)
    const reason = own?.ended ?? old?.ended
    return {
      shown: (own?.shown ?? 0) + (old?.shown ?? 0),
      read: (own?.read ?? 0) + (old?.read ?? 0),
      isCut: own?.isCut === true || old?.isCut === true,
      isUnusable: own?.isUnusable === true || old?.isUnusable === true,
      ...(reason === undefined ? {} : { ended: reason })
    }
  }
}

const longLines = ({ path, oldPath }: FileFacts, { unread }: ReadParts): "long_lines" | undefined =>
  unread.has(path) || (oldPath !== undefined && unread.has(oldPath)) ? "long_lines" : undefined

const unusableTags = {
  report: "ReportsUnreadable"
} as const satisfies Record<Unusable["reason"], string>

const maxNamed = 10

/** Returns the first paths, and the number of the others. */
export const namePaths = (paths: ReadonlyArray<string>, count: number) => ({
  paths: paths.slice(0, maxNamed),
  ...(count > maxNamed ? { more: count - maxNamed } : {})
})

/** Returns notices about what could not be used, with the files that do not count as read in full. */
const unusableNotices = ({ skipped, unusable = [] }: Coverage): ReadonlyArray<Reason> => {
  // Of a pass that also ended early, the files have that reason.
  const paths = skipped.flatMap(({ path, changed }) => (changed === undefined ? [] : [path]))
  return unusable.map(({ count, reason }) => ({ _tag: unusableTags[reason], count, ...namePaths(paths, paths.length) }))
}

/** Returns notices that are always visible, because the list of skipped files is folded. */
export const unreadNotices = (coverage: Coverage): ReadonlyArray<Reason> => {
  const { changed = coverage.lines, lines, skipped } = coverage
  const read = new Set(skipped.flatMap(({ path, reason }) => (reason === "unusable" ? [path] : [])))
  const paths = unreadPaths(coverage).filter((path) => !read.has(path))
  const count = countUnread(coverage) - read.size
  const notices: Array<Reason> = lines < changed ? [{ _tag: "LinesRead", count: lines, total: changed }] : []
  if (count > 0) notices.push({ _tag: "TextUnread", ...namePaths(paths, count) })
  const framed = (coverage.framed ?? []).map((file) => file.path)
  if (framed.length > 0) notices.push({ _tag: "FilesFramed", ...namePaths(framed, framed.length) })
  if (skipped.some(({ reason }) => reason === "long_lines")) notices.push({ _tag: "LinesCut", count: readLength })
  return [...notices, ...unusableNotices(coverage)]
}
