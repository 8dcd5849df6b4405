/**
 * Which files of a change are read: the trigger's watch_path, include_cr_file and exclude_cr_file, then the workspace's
 * include and exclude, the ignore file of the base branch, what programs wrote or nobody can read, and max_files at last,
 * which counts only what passed. Every file that is left out keeps the first reason that holds. Pure.
 */
import type { SkipReason } from "../domain/Coverage.ts"
import type { ReviewConfig } from "../config/schema/Review.ts"
import { isSubmodule } from "./FileDiff.ts"
import type { FileDiff, FileHeader } from "./FileDiff.ts"
import { hasGeneratedMarker, isGeneratedName } from "./Generated.ts"
import { anyGlob, underAny } from "./Globs.ts"
import type { PathMatch } from "./Globs.ts"
import { meter } from "./Steps.ts"
import type { Steps } from "./Steps.ts"

export interface TriggerFilters {
  /** Empty: no limit, as are the globs. */
  readonly watchPath: ReadonlyArray<string>
  readonly include: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
}

export interface FileSelection {
  /** To be asked once per file, in order, while the diff is read; true while the file may still be analysed. */
  readonly keep: (file: FileHeader) => boolean
  /** What is analysed and what is not, when the diff has been read. */
  readonly result: (files: ReadonlyArray<FileDiff>) => Steps<SelectedFiles>
}

export interface SelectedFiles {
  readonly files: ReadonlyArray<FileDiff>
  readonly skipped: ReadonlyArray<{ readonly path: string; readonly reason: SkipReason }>
}

/** The first lines of a file are looked at. */
const fileLength = 1024

export const selectFiles = (options: {
  readonly review: Pick<ReviewConfig, "include" | "exclude" | "max_files">
  readonly filters: TriggerFilters
  readonly ignores: PathMatch
}): FileSelection => {
  const { review, filters, ignores } = options
  const watched = filters.watchPath.length === 0 ? () => true : underAny(filters.watchPath)
  const triggerIncludes = filters.include.length === 0 ? () => true : anyGlob(filters.include)
  const triggerExcludes = anyGlob(filters.exclude)
  const includes = anyGlob(review.include)
  const excludes = anyGlob(review.exclude)

  const reasonFor = (file: FileHeader): SkipReason | undefined => {
    const { path } = file
    if (!watched(path)) return "not_watched"
    if (!triggerIncludes(path) || triggerExcludes(path) || !includes(path) || excludes(path)) return "excluded"
    if (ignores(path)) return "ignored"
    if (isSubmodule(file)) return "submodule"
    if (file.binary) return "binary"
    return isGeneratedName(path) ? "generated" : undefined
  }

  const reasons = new Map<string, SkipReason>()
  let kept = 0
  return {
    keep: (file) => {
      const reason = reasonFor(file) ?? (kept >= review.max_files ? "max_files" : undefined)
      if (reason !== undefined) reasons.set(file.path, reason)
      else kept++
      return reason === undefined
    },
    *result(files) {
      const enough = meter()
      const chosen: Array<FileDiff> = []
      const skipped: Array<{ path: string; reason: SkipReason }> = []
      for (const file of files) {
        const reason = reasons.get(file.path) ?? (hasGeneratedMarker(file) ? "generated" : undefined)
        if (reason === undefined) chosen.push(file)
        else skipped.push({ path: file.path, reason })
        if (enough(fileLength)) yield
      }
      return { files: chosen, skipped }
    }
  }
}
