/** Work on the output of git for a change: the diff as it streams, and the selection of the reviewed files. */
import type { SkippedFile } from "../../domain/Coverage.ts"
import { boundSkipped } from "../../domain/SkippedFiles.ts"
import type { BoundedSkipped } from "../../domain/SkippedFiles.ts"
import type { FileDiff, FileHeader } from "../../review/FileDiff.ts"
import { DiffFormatError, makeDiffParser } from "../../review/ParseDiff.ts"
import { setSelected } from "./ReadState.ts"
import type { ComparisonState, ReadState } from "./ReadState.ts"
import type { RefusedRule } from "../../review/IgnoreFile.ts"

export interface DiffProgress {
  /** Patch bytes of the kept files so far. */
  readonly keptBytes: number
  /** Error of the parser where the diff is not valid output of git. */
  readonly malformed: string | undefined
}

export interface ReadSummary {
  readonly files: number
  /** Files that git classifies as binary and that may be text. */
  readonly binaries: ReadonlyArray<Pick<FileDiff, "path" | "oldPath" | "status">>
  /** Rules of the ignore file that are not used, and why. */
  readonly refusedRules: ReadonlyArray<RefusedRule>
  /** Paths that the ignore file lists beyond its scope. */
  readonly overruled: number
}

export type UnnamedSkipped = Omit<BoundedSkipped<SkippedFile>, "named">

/** Facts of a file that are available outside of the thread that holds its lines. */
export type FileFacts = Pick<FileDiff, "path" | "oldPath" | "status" | "additions" | "deletions" | "bytes">

export const makeReadWork = (state: ReadState) => {
  const { comparison, rules } = state
  return {
    beginDiff: (): void => beginParsing(comparison, (file) => rules.selection?.keep(file) ?? true),
    push: (chunks: ReadonlyArray<Uint8Array>): DiffProgress =>
      parsing(comparison, () => {
        for (const chunk of chunks) comparison.parser?.push(chunk)
      }),
    endDiff: (): DiffProgress =>
      parsing(comparison, () => {
        comparison.files = comparison.parser?.end() ?? []
      }),
    /**
     * Selects the reviewed files of the complete diff, with the first `maxBinaries` of the binary files that may be
     * text after all.
     */
    selectRead: (maxBinaries: number): ReadSummary => {
      const { files, kept, listed } = comparison
      const selected = rules.selection?.result(files, listed)
      setSelected(state, selected ?? { files: files.filter(({ path }) => kept.has(path)), skipped: [] })
      const binary = new Set(state.selected.skipped.flatMap((skip) => (skip.reason === "binary" ? [skip.path] : [])))
      for (const file of files) if (file.binary && binary.has(file.path)) state.binaries.set(file.path, file)
      return {
        files: state.selected.files.length,
        binaries: [...state.binaries.values()]
          .slice(0, maxBinaries)
          .map(({ path, oldPath, status }) => ({ path, oldPath, status })),
        refusedRules: rules.refusedRules,
        overruled: rules.overruled.size
      }
    },
    /** Some of the reviewed files, from a position on; empty at the end. */
    facts: (from: number, count: number): ReadonlyArray<FileFacts> =>
      state.selected.files.slice(from, from + count).map(({ path, oldPath, status, additions, deletions, bytes }) => ({
        path,
        oldPath,
        status,
        additions,
        deletions,
        bytes
      })),
    /** Bounds the skipped files. Returns the numbers of those that are not named. */
    boundSkipped: (): UnnamedSkipped => {
      const { named, ...unnamed } = boundSkipped(state.selected.skipped)
      state.named = named
      return unnamed
    },
    /** Returns a range of the named skipped files. */
    skipped: (from: number, count: number): ReadonlyArray<SkippedFile> => state.named.slice(from, from + count)
  }
}

/** Starts a diff. Files whose header `keep` accepts are stored. */
export const beginParsing = (comparison: ComparisonState, keep: (file: FileHeader) => boolean): void => {
  const kept = new Set<string>()
  comparison.kept = kept
  comparison.parser = makeDiffParser((file) => {
    if (!keep(file)) return false
    kept.add(file.path)
    return true
  })
}

const parsing = (comparison: ComparisonState, read: () => void): DiffProgress => {
  const progress = (malformed?: string) => ({ keptBytes: comparison.parser?.keptBytes ?? 0, malformed })
  try {
    read()
    return progress()
  } catch (cause) {
    if (cause instanceof DiffFormatError) return progress(cause.message)
    throw cause
  }
}
