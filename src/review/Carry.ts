/**
 * Carries over from an earlier review of the same target: files whose patch is unchanged are not read again, and their
 * findings remain, on the current lines of their hunks. Pure.
 */
import type { Analysis, FilePatch } from "../domain/Analysis.ts"
import type { Anchor, DiffPlace, Finding } from "../domain/Problem.ts"
import type { FileDiff } from "./FileDiff.ts"

export interface Carried {
  /** Files that are read in this review. */
  readonly files: ReadonlyArray<FileDiff>
  /** Files that are not read again. */
  readonly unchanged: ReadonlyArray<FileDiff>
  /** Findings in the files that are not read again, with their current lines. */
  readonly findings: ReadonlyArray<Finding>
}

export const carry = (
  files: ReadonlyArray<FileDiff>,
  ids: ReadonlyMap<string, string>,
  previous: Pick<Analysis, "findings" | "patches"> | undefined
): Carried => {
  const read = new Map((previous?.patches ?? []).map((patch) => [patch.path, patch]))
  const isUnchanged = ({ path }: FileDiff): boolean => {
    const known = read.get(path)?.id
    return known !== undefined && known === ids.get(path)
  }
  const unchanged = files.filter(isUnchanged)
  const byPath = new Map(unchanged.map((file) => [file.path, file]))
  const changed = unchanged.length === files.length ? [] : files.filter((file) => !byPath.has(file.path))
  const carryFinding = (finding: Finding): Finding | undefined => {
    const { anchor, problem } = finding
    const file = byPath.get(anchor?.path ?? problem.file)
    // A finding without a line in the change remains valid while no file of the change differs.
    if (file === undefined) return anchor === undefined && changed.length === 0 ? finding : undefined
    if (anchor === undefined) return finding
    const moved = shifted(anchor, file, read.get(file.path))
    return moved === undefined ? undefined : { ...finding, anchor: moved, problem: claimed(problem, anchor, moved) }
  }
  return {
    files: changed,
    unchanged,
    findings: (previous?.findings ?? []).flatMap((finding) => carryFinding(finding) ?? [])
  }
}

/** Maximum number of stored hunk positions. A file with findings and more hunks is read again. */
const maxStarts = 5000

/** Returns the patches to store: those of files that were read completely, or whose earlier review is still valid. */
export const readPatches = (
  files: ReadonlyArray<FileDiff>,
  ids: ReadonlyMap<string, string>,
  findings: ReadonlyArray<Pick<Finding, "anchor">>
): ReadonlyArray<FilePatch> => {
  const found = new Set(findings.map(({ anchor }) => anchor?.path))
  return files.flatMap((file): ReadonlyArray<FilePatch> => {
    const { path, hunks } = file
    const id = ids.get(path)
    if (id === undefined || (found.has(path) && hunks.length > maxStarts)) return []
    return found.has(path)
      ? [{ path, id, starts: hunks.map(({ oldStart, newStart }) => [oldStart, newStart] as const) }]
      : [{ path, id }]
  })
}

/** Equal patches have equal hunks: a line keeps its distance from the first one of its hunk. */
const shifted = (anchor: Anchor, file: FileDiff, patch: FilePatch | undefined): Anchor | undefined => {
  for (const [index, [oldStart, newStart]] of (patch?.starts ?? []).entries()) {
    const hunk = file.hunks[index]
    if (hunk === undefined) return undefined
    const [start, length] = anchor.side === "new" ? [newStart, hunk.newLines] : [oldStart, hunk.oldLines]
    if (anchor.line < start || anchor.line >= start + length) continue
    const byOld = hunk.oldStart - oldStart
    const byNew = hunk.newStart - newStart
    const by = anchor.side === "new" ? byNew : byOld
    return {
      ...anchor,
      line: anchor.line + by,
      ...(anchor.start === undefined ? {} : { start: anchor.start + by }),
      ...(anchor.oldLine === undefined ? {} : { oldLine: anchor.oldLine + byOld }),
      ...(anchor.newLine === undefined ? {} : { newLine: anchor.newLine + byNew }),
      ...(anchor.range === undefined
        ? {}
        : {
            range: {
              first: movedPlace(anchor.range.first, byOld, byNew),
              last: movedPlace(anchor.range.last, byOld, byNew)
            }
          })
    }
  }
  return undefined
}

const movedPlace = (place: DiffPlace, byOld: number, byNew: number): DiffPlace => ({
  ...place,
  old: place.old + byOld,
  new: place.new + byNew
})

/** The lines that the model named move along. */
const claimed = (problem: Finding["problem"], from: Anchor, to: Anchor): Finding["problem"] => {
  const by = to.line - from.line
  return by === 0
    ? problem
    : {
        ...problem,
        ...(problem.line === undefined ? {} : { line: Math.max(1, problem.line + by) }),
        ...(problem.end_line === undefined ? {} : { end_line: Math.max(1, problem.end_line + by) })
      }
}
