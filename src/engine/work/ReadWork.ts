/** Work on a change while it is read: which of its paths are compared, what git prints of them, what an earlier review read already. */
import type { ReviewConfig } from "../../config/schema/Review.ts"
import type { FilePatch } from "../../domain/Analysis.ts"
import type { SkippedFile } from "../../domain/Coverage.ts"
import type { Finding } from "../../domain/Problem.ts"
import { generatedAttribute } from "../../review/Attributes.ts"
import { carry, readPatches } from "../../review/Carry.ts"
import type { Carried } from "../../review/Carry.ts"
import { keepLineage, unshown } from "../../review/CommitPatches.ts"
import type { CommitLabel, Lineage } from "../../review/CommitPatches.ts"
import type { FileDiff, FileHeader } from "../../review/FileDiff.ts"
import { parseIgnoreFile } from "../../review/IgnoreFile.ts"
import { languageOf } from "../../review/Languages.ts"
import { DiffFormatError, makeDiffParser } from "../../review/ParseDiff.ts"
import type { DiffParser } from "../../review/ParseDiff.ts"
import { patchIds } from "../../review/PatchId.ts"
import { isProtectedPath } from "../../review/ProtectedPaths.ts"
import { selectFiles, unreadIf } from "../../review/SelectFiles.ts"
import type { FileSelection, ListedPath, SelectedFiles, TriggerFilters } from "../../review/SelectFiles.ts"
import { diffTexts } from "../../review/TextDiff.ts"

export interface SelectInput {
  readonly review: Pick<
    ReviewConfig,
    "include" | "exclude" | "max_files" | "max_file_bytes" | "ignore_file" | "ignore_file_scope"
  >
  readonly filters: TriggerFilters
  /** Of the base branch; empty where there is none, as are the attributes. */
  readonly ignoreText: string
  readonly attributes: string
}

export interface DiffProgress {
  /** Patch bytes of the kept files so far. */
  readonly keptBytes: number
  /** What git does not print. */
  readonly malformed: string | undefined
}

export interface ReadSummary {
  readonly files: number
  /** Files that git takes for binary and that may be text. */
  readonly binaries: ReadonlyArray<Pick<FileDiff, "path" | "oldPath" | "status">>
  /** Rules of the ignore file that are not used, and why. */
  readonly refusedRules: ReadonlyArray<string>
  /** Paths that the ignore file lists beyond its scope. */
  readonly overruled: number
}

/** What is known of a file outside of the thread that holds its lines. */
export type FileFacts = Pick<FileDiff, "path" | "oldPath" | "status" | "additions" | "deletions" | "bytes">

type IndexedPath = ListedPath & { readonly index: number }

export const makeReadWork = () => {
  let listed: Array<IndexedPath> = []
  let candidates: ReadonlyArray<IndexedPath> = []
  let selection: FileSelection | undefined
  let refusedRules: ReadonlyArray<string> = []
  const overruled = new Set<string>()
  let parser: DiffParser | undefined
  let kept = new Set<string>()
  let all: ReadonlyArray<FileDiff> = []
  let selected: SelectedFiles = { files: [], skipped: [] }
  let ids: ReadonlyMap<string, string> | undefined
  let carried: Carried = { files: [], unchanged: [], findings: [] }
  let lineage: Lineage | undefined
  let commit: CommitLabel | undefined
  /** Patches of commits, the newest first. */
  let patches: Array<ReadonlyArray<FileDiff>> = []

  const progress = (malformed?: string): DiffProgress => ({ keptBytes: parser?.keptBytes ?? 0, malformed })
  const reading = (read: () => void): DiffProgress => {
    try {
      read()
      return progress()
    } catch (cause) {
      if (cause instanceof DiffFormatError) return progress(cause.message)
      throw cause
    }
  }
  const begin = (keep: (file: FileHeader) => boolean) => {
    kept = new Set()
    parser = makeDiffParser((file) => {
      if (!keep(file)) return false
      kept.add(file.path)
      return true
    })
  }
  const identities = () => (ids ??= patchIds(selected.files))

  return {
    state: {
      /** Files that are reviewed, whether an earlier review read them or not. */
      files: () => selected.files,
      /** Files to be read. */
      unread: () => carried.files,
      /** What a model is shown: commit by commit, or the comparison itself. */
      shown: (): ReadonlyArray<FileDiff> => {
        if (lineage === undefined) return carried.files
        const shown = patches.toReversed().flat()
        return [...shown, ...unshown(carried.files, shown)]
      }
    },
    work: {
      select: ({ review, filters, ignoreText, attributes }: SelectInput): void => {
        const rules = parseIgnoreFile(ignoreText)
        refusedRules = rules.refused
        const { ignore_file, ignore_file_scope: scope } = review
        const ignoredBy = (path: string): string | undefined => {
          const rule = rules.ignoredBy(path)
          if (rule === undefined) return undefined
          if (scope === "all" || (scope === "unprotected" && !isProtectedPath(path))) return `${ignore_file}, ${rule}`
          overruled.add(path)
          return undefined
        }
        selection = selectFiles({ review, filters, ignoredBy, attribute: generatedAttribute(attributes) })
      },
      /** Some of the paths that differ, in the order of a diff; `first` begins another comparison. */
      list: (paths: ReadonlyArray<ListedPath>, first: boolean): void => {
        if (first) listed = []
        for (const { path, status, oldMode, newMode } of paths) {
          listed.push({ path, status, oldMode, newMode, index: listed.length })
        }
      },
      /** Positions of the candidates among the listed paths. */
      candidates: (): Int32Array => {
        candidates = selection === undefined ? [] : selection.candidates(listed)
        return Int32Array.from(candidates, ({ index }) => index)
      },
      /** Positions of the paths to compare among the listed ones; `sizes` are those of the candidates. */
      choose: (sizes: Float64Array): { readonly paths: Int32Array; readonly exactRenames: boolean } => {
        if (selection === undefined) return { paths: new Int32Array(), exactRenames: false }
        const { paths, exactRenames } = selection.choose(candidates, Array.from(sizes))
        return { paths: Int32Array.from(paths, ({ index }) => index), exactRenames }
      },
      beginDiff: (): void => begin((file) => selection?.keep(file) ?? true),
      push: (chunks: ReadonlyArray<Uint8Array>): DiffProgress =>
        reading(() => {
          for (const chunk of chunks) if (parser !== undefined) parser.push(chunk)
        }),
      endDiff: (): DiffProgress => reading(() => void (all = parser?.end() ?? [])),
      /** What of the diff that ended is reviewed. */
      selectRead: (): ReadSummary => {
        const files = all.filter(({ path }) => kept.has(path))
        selected = selection === undefined ? { files, skipped: [] } : selection.result(all, listed)
        const binary = new Set(selected.skipped.flatMap(({ path, reason }) => (reason === "binary" ? [path] : [])))
        carried = { files: selected.files, unchanged: [], findings: [] }
        return {
          files: selected.files.length,
          binaries: all.flatMap(({ path, oldPath, status }) => (binary.has(path) ? [{ path, oldPath, status }] : [])),
          refusedRules,
          overruled: overruled.size
        }
      },
      /** Compares the texts of a binary file, undefined where they cannot be read. Returns the bytes that it takes of `room`. */
      readBinary: (
        path: string,
        texts: { readonly before: string; readonly after: string } | undefined,
        room: number
      ): number => {
        const file = all.find((one) => one.path === path)
        if (file === undefined) return 0
        const read = texts === undefined ? undefined : diffTexts(file, texts.before, texts.after)
        const isRead = read !== undefined && read.bytes <= room
        const skipped = selected.skipped.flatMap((skip): ReadonlyArray<SkippedFile> => {
          if (skip.path !== path || skip.reason !== "binary") return [skip]
          return isRead ? [] : [notRead(file)]
        })
        selected = { files: isRead ? [...selected.files, read] : selected.files, skipped }
        carried = { files: selected.files, unchanged: [], findings: [] }
        return isRead ? read.bytes : 0
      },
      /** Some of the reviewed files, from a position on; empty at the end. */
      facts: (from: number, count: number): ReadonlyArray<FileFacts> =>
        selected.files.slice(from, from + count).map(({ path, oldPath, status, additions, deletions, bytes }) => ({
          path,
          oldPath,
          status,
          additions,
          deletions,
          bytes
        })),
      /** Likewise of the files that are left out. */
      skipped: (from: number, count: number): ReadonlyArray<SkippedFile> => selected.skipped.slice(from, from + count),
      /** What an earlier review spares this one: positions of the files that are not read again, and what was found in them. */
      carry: (
        findings: ReadonlyArray<Finding>,
        earlier: ReadonlyArray<FilePatch> | undefined
      ): { readonly unchanged: Int32Array; readonly findings: ReadonlyArray<Finding> } => {
        carried = carry(selected.files, identities(), { findings, patches: earlier })
        const unchanged = new Set(carried.unchanged)
        return {
          unchanged: Int32Array.from(selected.files.flatMap((file, at) => (unchanged.has(file) ? [at] : []))),
          findings: carried.findings
        }
      },
      /** What is stored of the files at these positions. */
      patches: (read: Int32Array, findings: ReadonlyArray<Pick<Finding, "anchor">>): ReadonlyArray<FilePatch> => {
        const files = Array.from(read).flatMap((at) => selected.files[at] ?? [])
        return readPatches(files, identities(), findings)
      },
      /** Begins with the commits of the change, the newest first. */
      beginCommits: (maxDeleted: number): void => {
        lineage = keepLineage(carried.files, maxDeleted)
        patches = []
      },
      commitCandidates: (): Int32Array => {
        candidates = lineage === undefined ? [] : lineage.candidates(listed)
        return Int32Array.from(candidates, ({ index }) => index)
      },
      beginCommit: (label: CommitLabel): void => {
        commit = label
        begin((file) => lineage?.belongs(file) ?? false)
      },
      endCommit: (): void => {
        const label = commit
        if (label === undefined) return
        patches.push(
          all.flatMap((file) => (kept.has(file.path) && file.hunks.length > 0 ? [{ ...file, commit: label }] : []))
        )
      }
    }
  }
}

export type ReadState = ReturnType<typeof makeReadWork>["state"]

const notRead = ({ path, status }: FileDiff): SkippedFile => {
  const isCode = languageOf(path) !== undefined
  return { path, reason: isCode ? "unreadable" : "binary", ...unreadIf(isCode && status !== "deleted") }
}
