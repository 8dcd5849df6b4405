/**
 * Files that git classifies as binary although they are text: with a NUL byte, or in UTF-16. The first ones are read
 * here and compared in the thread of the change. An unreadable file, and all after the limit, remain `binary`, or
 * `unreadable` where the name is one of code.
 */
import { Effect } from "effect"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { FileTexts } from "../work/BinaryWork.ts"
import type { ReadSummary } from "../work/ReadWork.ts"

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
