/**
 * Reads a change in bounded steps: first the paths that it touches, then the sizes of the reviewed files, and only then
 * the diff of the files that are neither excluded nor too large, as a stream that stops at the limit.
 */
import { Effect } from "effect"
import type { Workspace } from "../../config/Snapshot.ts"
import type { SkippedFile, SkipReason } from "../../domain/Coverage.ts"
import { settingsFile } from "../../domain/RepositorySettings.ts"
import type { TriggerFilters } from "../../review/SelectFiles.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import { inParts, listPaths, pathsAt } from "./ListPaths.ts"
import type { PatchTooLarge } from "./PatchTooLarge.ts"
import { readDiff } from "./ReadDiff.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { FileFacts, ReadSummary, UnnamedSkipped } from "../work/ReadWork.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { FileTexts } from "../work/BinaryWork.ts"

/**
 * Files that git classifies as binary although they are text: with a NUL byte, or in UTF-16. The first ones are read
 * here and compared in the thread of the change. An unreadable file, and all after the limit, remain `binary`, or
 * `unreadable` where the name is one of code.
 */

const maxFileBytes = 262_144
/** Binary files of a change that are read; messages to its thread are bounded by it. */
export const maxBinaries = 50

/** `room` is the rest of review.max_patch_bytes, `places` the rest of review.max_files. */
export const readBinaries = Effect.fn("readBinaries")(function* (
  change: ChangeThread,
  checkout: Checkout,
  binaries: ReadSummary["binaries"],
  limits: { readonly room: number; readonly places: number }
): Effect.fn.Return<void, CheckoutError | AnalysisError> {
  if (binaries.length === 0) return
  let { room } = limits
  for (const file of binaries.slice(0, Math.max(0, Math.min(maxBinaries, limits.places)))) {
    const texts = yield* readTexts(checkout, file, Math.min(maxFileBytes, room))
    if (texts !== undefined) room -= yield* change.run("readBinary", file.path, texts, room)
  }
  yield* change.run("endBinaries")
})

const readTexts = Effect.fnUntraced(function* (
  checkout: Checkout,
  file: ReadSummary["binaries"][number],
  maxBytes: number
): Effect.fn.Return<FileTexts | undefined, CheckoutError> {
  const { path, oldPath = path, status } = file
  const after = status === "deleted" ? "" : yield* checkout.file(path, "head", maxBytes)
  if (after === undefined) return undefined
  // What it was before may be anything: then all of it is new.
  const before = status === "added" ? "" : ((yield* checkout.file(oldPath, "from", maxBytes)) ?? "")
  return { before, after }
})

const maxIgnoreBytes = 65_536
const attributesFile = ".gitattributes"

export interface ReadChange {
  /** Files that are reviewed; their lines are in the thread of the change. */
  readonly files: ReadonlyArray<FileFacts>
  /** The first skipped files, and the numbers of those that are not among them. */
  readonly skipped: ReadonlyArray<SkippedFile>
  readonly unnamed: UnnamedSkipped
  /** UTF-8 bytes of the patch of the files that are reviewed. */
  readonly bytes: number
  readonly notices: ReadonlyArray<Reason>
}

export const readChange = Effect.fn("readChange")(function* (
  change: ChangeThread,
  checkout: Checkout,
  { review }: Workspace,
  filters: TriggerFilters,
  /** Patterns of the settings of the repository. */
  exclude: ReadonlyArray<string> = []
): Effect.fn.Return<ReadChange, CheckoutError | PatchTooLarge | AnalysisError> {
  const ignoreText = (yield* checkout.file(review.ignore_file, "rules", maxIgnoreBytes)) ?? ""
  const attributes = (yield* checkout.file(attributesFile, "rules", maxIgnoreBytes)) ?? ""
  const { include, max_files, max_file_bytes, ignore_file, ignore_file_scope } = review
  const rules = { include, exclude: review.exclude, max_files, max_file_bytes, ignore_file, ignore_file_scope }
  const settings = { name: `${settingsFile}, review.exclude`, exclude }
  yield* change.run("select", { review: rules, filters, ignoreText, settings, attributes })
  const listed = yield* checkout.changes(review.max_changed_paths)
  yield* listPaths(change, listed)
  const candidates = pathsAt(listed, yield* change.run("candidates"))
  const sizes = yield* checkout.sizes(candidates)
  const chosen = yield* change.run("choose", Float64Array.from(sizes))
  yield* change.run("beginDiff")
  const diff = checkout.diff(pathsAt(listed, chosen.paths), chosen.exactRenames)
  const bytes = yield* readDiff(change, diff, review.max_patch_bytes, review.max_patch_bytes)
  const summary = yield* change.run("selectRead", maxBinaries)
  yield* readBinaries(change, checkout, summary.binaries, {
    room: review.max_patch_bytes - bytes,
    places: review.max_files - summary.files
  })
  const files = yield* inParts((from, count) => change.run("facts", from, count))
  const unnamed = yield* change.run("boundSkipped")
  const skipped = yield* inParts((from, count) => change.run("skipped", from, count))
  return {
    files,
    skipped,
    unnamed,
    bytes: files.reduce((sum, file) => sum + file.bytes, 0),
    notices: [
      ...noticesOf(summary, { skipped, unnamed }, review),
      ...(chosen.exactRenames ? [{ _tag: "OnlyExactRenames" } as const] : [])
    ]
  }
})

const noticesOf = (
  { refusedRules, overruled }: ReadSummary,
  skipped: Pick<ReadChange, "skipped" | "unnamed">,
  review: Workspace["review"]
): ReadonlyArray<Reason> => [
  ...refusedRules.map((rule): Reason => ({ _tag: "RuleUnused", file: review.ignore_file, ...rule })),
  ...overruledNotice(overruled, review),
  ...skippedNotices(skipped, "max_files", (count) => ({ _tag: "FilesOverNumber", count, limit: review.max_files })),
  ...skippedNotices(skipped, "too_large", (count) => ({
    _tag: "FilesOverMaxBytes",
    count,
    limit: review.max_file_bytes
  }))
]

const overruledNotice = (
  files: number,
  { ignore_file, ignore_file_scope }: Workspace["review"]
): ReadonlyArray<Reason> =>
  files === 0 ? [] : [{ _tag: "ListedFilesReviewed", count: files, file: ignore_file, scope: ignore_file_scope }]

const skippedNotices = (
  { skipped, unnamed }: Pick<ReadChange, "skipped" | "unnamed">,
  why: SkipReason,
  toNotice: (files: number) => Reason
): ReadonlyArray<Reason> => {
  const files = skipped.filter(({ reason }) => reason === why).length + (unnamed.counts[why] ?? 0)
  return files === 0 ? [] : [toNotice(files)]
}
