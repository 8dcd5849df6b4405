/** State of the thread of a change while it is read: the current comparison, the reviewed part of it, and its commits. */
import type { SkippedFile } from "../../domain/Coverage.ts"
import type { FileDiff } from "../../review/FileDiff.ts"
import type { Carried } from "../../review/Carry.ts"
import { unshown } from "../../review/CommitPatches.ts"
import type { Lineage } from "../../review/CommitPatches.ts"
import type { CommitLabel } from "../../review/CommitLabel.ts"
import type { DiffParser } from "../../review/ParseDiff.ts"
import type { FileSelection, ListedPath, SelectedFiles } from "../../review/SelectFiles.ts"
import type { RefusedRule } from "../../review/IgnoreFile.ts"

export type IndexedPath = ListedPath & { readonly index: number }

/** Two revisions that are compared: the whole change, or one of its commits. */
export interface ComparisonState {
  listed: Array<IndexedPath>
  candidates: ReadonlyArray<IndexedPath>
  parser: DiffParser | undefined
  /** Paths whose lines are stored. */
  kept: Set<string>
  /** Every file of the diff, once it has ended. */
  files: ReadonlyArray<FileDiff>
}

export interface SelectionState {
  selection: FileSelection | undefined
  /** Rules of the ignore file that are not used, and why. */
  refusedRules: ReadonlyArray<RefusedRule>
  /** Paths that the ignore file lists beyond its scope. */
  readonly overruled: Set<string>
}

interface CommitState {
  readonly lineage: Lineage
  /** The commit that is read. */
  label: CommitLabel | undefined
  /** Patches of each commit, the newest first. */
  readonly patches: Array<ReadonlyArray<FileDiff>>
}

export interface ReadState {
  readonly comparison: ComparisonState
  readonly rules: SelectionState
  /** Files that are reviewed, whether an earlier review read them or not. */
  selected: SelectedFiles
  /** Skipped files that the service's thread receives. */
  named: ReadonlyArray<SkippedFile>
  /** Binary files whose texts are still to be compared, by path. */
  readonly binaries: Map<string, FileDiff>
  /** Patch identities of the selected files by path; computed once. */
  ids: ReadonlyMap<string, string> | undefined
  carried: Carried
  /** Present where the change is shown commit by commit. */
  commits: CommitState | undefined
}

export const makeReadState = (): ReadState => ({
  comparison: { listed: [], candidates: [], parser: undefined, kept: new Set(), files: [] },
  rules: { selection: undefined, refusedRules: [], overruled: new Set() },
  selected: { files: [], skipped: [] },
  named: [],
  binaries: new Map(),
  ids: undefined,
  carried: { files: [], unchanged: [], findings: [] },
  commits: undefined
})

/** Starts a review of these files without an earlier one. */
export const setSelected = (state: ReadState, selected: SelectedFiles): void => {
  state.selected = selected
  state.carried = { files: selected.files, unchanged: [], findings: [] }
}

/** Returns the files that a model sees: commit by commit, or the comparison itself, which is that of the files at `whole`. */
export const shownFiles = ({ carried, commits }: ReadState, whole: ReadonlyArray<string>): ReadonlyArray<FileDiff> => {
  if (commits === undefined) return carried.files
  const compared = new Set(whole)
  const shown = commits.patches
    .toReversed()
    .flat()
    .filter(({ path }) => !compared.has(path))
  const others = carried.files.filter(({ path }) => !compared.has(path))
  return [...shown, ...unshown(others, shown), ...carried.files.filter(({ path }) => compared.has(path))]
}
