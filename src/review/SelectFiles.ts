/**
 * Selects the files of a change that are read: the trigger's watch_path, include_cr_file and exclude_cr_file, then the
 * workspace's include and exclude, the ignore file of the base branch, generated and unreadable files, and max_files at
 * last, which counts only files that passed. Every excluded file keeps the first reason that applies. Pure.
 */
import type { SkippedFile, SkipReason } from "../domain/Coverage.ts"
import type { ReviewConfig } from "../config/schema/Review.ts"
import { isSubmodule } from "./FileDiff.ts"
import type { FileDiff, FileHeader } from "./FileDiff.ts"
import type { GeneratedAttribute } from "./Attributes.ts"
import { hasGeneratedMarker, isGenerated } from "./Generated.ts"
import { anyGlob, underAny } from "../domain/Globs.ts"

export interface TriggerFilters {
  /** Empty: no limit, as are the globs. */
  readonly watchPath: ReadonlyArray<string>
  readonly include: ReadonlyArray<string>
  readonly exclude: ReadonlyArray<string>
}

/** A path that a change touches, before anything of the file is read. */
export type ListedPath = Pick<FileHeader, "path" | "status" | "oldMode" | "newMode">

interface ChosenPaths<A> {
  /** Paths to compare. */
  readonly paths: ReadonlyArray<A>
  /** Renames with further changes are not detected, because the search would take too long. */
  readonly exactRenames: boolean
}

export interface FileSelection {
  /** Selects the candidates among all paths of the change, before their sizes are available. */
  readonly candidates: <A extends ListedPath>(listed: ReadonlyArray<A>) => ReadonlyArray<A>
  /** Selects the candidates that are compared; `sizes` are in their order. */
  readonly choose: <A extends ListedPath>(candidates: ReadonlyArray<A>, sizes: ReadonlyArray<number>) => ChosenPaths<A>
  /**
   * Has to be called once per file, in order, while the diff of the chosen ones is read; true while the file may still
   * be analysed.
   */
  readonly keep: (file: FileHeader) => boolean
  /** Returns the analysed and the skipped files when the diff has been read. */
  readonly result: (files: ReadonlyArray<FileDiff>, listed: ReadonlyArray<ListedPath>) => SelectedFiles
}

export interface SelectedFiles {
  readonly files: ReadonlyArray<FileDiff>
  readonly skipped: ReadonlyArray<SkippedFile>
}

export const unreadIf = (unread: boolean): { readonly unread?: true } => (unread ? { unread: true } : {})

/**
 * Candidates per file of max_files. Binary and generated files are detected only in the comparison and do not count
 * towards max_files.
 */
const candidatesPerFile = 5
/** Bytes of all files that are compared. */
const comparedBytes = 1_073_741_824

/**
 * Limit for the detection of renames: git compares each deleted file with each added one, and this many bytes take a
 * few seconds.
 */
const renameBytes = 20_000_000_000

/** The change may have text there that would have been read. */
const isLimit = (reason: SkipReason): boolean => reason === "max_files" || reason === "too_large"

interface SelectionOptions {
  readonly review: Pick<ReviewConfig, "include" | "exclude" | "max_files" | "max_file_bytes">
  readonly filters: TriggerFilters
  /** The rule of the repository's ignore file that hides a path. */
  readonly ignoredBy: (path: string) => string | undefined
  /** Attribute of generated files on the base branch. */
  readonly attribute?: GeneratedAttribute
}

/** Returns the reason to exclude a file before its lines are available; undefined while it may be read. */
type ReasonFor = (file: FileHeader) => SkipReason | undefined

interface SelectionState {
  /** First reason to exclude each path. */
  readonly reasons: Map<string, SkipReason>
  /** Files of the diff that may be read. */
  kept: number
}

export const selectFiles = (options: SelectionOptions): FileSelection => {
  const { review } = options
  const reasonFor = reasonFinder(options)
  const state: SelectionState = { reasons: new Map(), kept: 0 }
  return {
    candidates: (listed) => candidatesOf(listed, reasonFor, state, candidatesPerFile * review.max_files),
    choose: (candidates, sizes) => choosePaths(candidates, sizes, state, review.max_file_bytes),
    keep: (file) => {
      const reason = reasonFor(file) ?? (state.kept >= review.max_files ? "max_files" : undefined)
      if (reason !== undefined) state.reasons.set(file.path, reason)
      else state.kept++
      return reason === undefined
    },
    result: (files, listed) => resultOf(files, listed, state, options)
  }
}

/** Returns a function that names the setting that excludes a path; undefined for a path that passes all of them. */
const excluder = ({ filters, review }: Pick<SelectionOptions, "filters" | "review">) => {
  const triggerIncludes = filters.include.length === 0 ? () => true : anyGlob(filters.include)
  const triggerExcludes = anyGlob(filters.exclude)
  const includes = anyGlob(review.include)
  const excludes = anyGlob(review.exclude)
  return (path: string): string | undefined => {
    if (!triggerIncludes(path)) return "triggers[].include_cr_file"
    if (triggerExcludes(path)) return "triggers[].exclude_cr_file"
    if (!includes(path)) return "review.include"
    return excludes(path) ? "review.exclude" : undefined
  }
}

const reasonFinder = ({ review, filters, ignoredBy, attribute = noAttribute }: SelectionOptions): ReasonFor => {
  const watched = filters.watchPath.length === 0 ? () => true : underAny(filters.watchPath)
  const excludedBy = excluder({ filters, review })
  return (file) => {
    const { path } = file
    if (!watched(path)) return "not_watched"
    if (excludedBy(path) !== undefined) return "excluded"
    if (ignoredBy(path) !== undefined) return "ignored"
    if (isSubmodule(file)) return "submodule"
    if (isGenerated(file, attribute) === true) return "generated"
    return file.binary ? "binary" : undefined
  }
}

const noAttribute: GeneratedAttribute = () => undefined

/** Returns at most `limit` deleted files, and as many others. */
const candidatesOf = <A extends ListedPath>(
  listed: ReadonlyArray<A>,
  reasonFor: ReasonFor,
  { reasons }: SelectionState,
  limit: number
): ReadonlyArray<A> => {
  // Which deleted and added files are one that was renamed shows later: each kind has its own count here.
  const counts = { deleted: 0, others: 0 }
  const found: Array<A> = []
  for (const one of listed) {
    const kind = one.status === "deleted" ? "deleted" : "others"
    const known = reasonFor({ ...one, oldPath: undefined, binary: false })
    // A generated file may have been renamed, which only the comparison shows.
    const isOpen = known === "generated" && one.status === "deleted"
    const reason = (isOpen ? undefined : known) ?? (counts[kind] >= limit ? "max_files" : undefined)
    if (reason !== undefined) reasons.set(one.path, reason)
    else {
      counts[kind]++
      found.push(one)
    }
  }
  return found
}

const choosePaths = <A extends ListedPath>(
  candidates: ReadonlyArray<A>,
  sizes: ReadonlyArray<number>,
  { reasons }: SelectionState,
  maxFileBytes: number
): ChosenPaths<A> => {
  const paths: Array<A> = []
  let all = 0
  const deleted = { count: 0, bytes: 0 }
  const added = { count: 0, bytes: 0 }
  for (const [index, one] of candidates.entries()) {
    const bytes = sizes[index] ?? 0
    if (bytes > maxFileBytes || all + bytes > comparedBytes) reasons.set(one.path, "too_large")
    else {
      all += bytes
      paths.push(one)
      const side = one.status === "deleted" ? deleted : one.status === "added" ? added : undefined
      if (side !== undefined) {
        side.count++
        side.bytes += bytes
      }
    }
  }
  return { paths, exactRenames: added.count * deleted.bytes + deleted.count * added.bytes > renameBytes }
}

const resultOf = (
  files: ReadonlyArray<FileDiff>,
  listed: ReadonlyArray<ListedPath>,
  { reasons }: SelectionState,
  { attribute = noAttribute, filters, ignoredBy, review }: SelectionOptions
): SelectedFiles => {
  const excludedBy = excluder({ filters, review })
  const chosen: Array<FileDiff> = []
  const nothingAdded = new Set<string>()
  for (const file of files) {
    if (!reasons.has(file.path) && attribute(file.path) === undefined && hasGeneratedMarker(file)) {
      reasons.set(file.path, "generated")
    }
    if (!reasons.has(file.path)) chosen.push(file)
    else if (file.additions === 0) nothingAdded.add(file.path)
  }
  const skipped: Array<SkippedFile> = []
  for (const { path, status } of listed) {
    const reason = reasons.get(path)
    const adds = status !== "deleted" && !nothingAdded.has(path)
    if (reason === "ignored") skipped.push({ path, reason, rule: ignoredBy(path) })
    else if (reason === "excluded") skipped.push({ path, reason, rule: excludedBy(path) })
    else if (reason !== undefined) skipped.push({ path, reason, ...unreadIf(adds && isLimit(reason)) })
  }
  return { files: chosen, skipped }
}
