/**
 * Files that git takes for binary and that are text all the same: with a NUL byte, or in UTF-16. They are read here and compared in the
 * thread of the change. What cannot be read stays `binary`, or is `unreadable` where its name is one of code.
 */
import { Effect } from "effect"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import type { AnalysisError } from "./threads/AnalysisError.ts"
import type { ChangeThread } from "./threads/ChangeThreads.ts"
import type { ReadSummary } from "./work/ReadWork.ts"

const maxFileBytes = 262_144
const maxFiles = 50

/** `room` is what is left of review.max_patch_bytes, `places` of review.max_files. */
export const readBinaries = Effect.fn("readBinaries")(function* (
  change: ChangeThread,
  checkout: Checkout,
  binaries: ReadSummary["binaries"],
  limits: { readonly room: number; readonly places: number }
): Effect.fn.Return<void, CheckoutError | AnalysisError> {
  let { room } = limits
  let left = Math.min(maxFiles, limits.places)
  for (const file of binaries) {
    const texts = left-- > 0 ? yield* readTexts(checkout, file, Math.min(maxFileBytes, room)) : undefined
    room -= yield* change.run("readBinary", file.path, texts, room)
  }
})

const readTexts = Effect.fnUntraced(function* (
  checkout: Checkout,
  file: ReadSummary["binaries"][number],
  maxBytes: number
) {
  const { path, oldPath = path, status } = file
  const after = status === "deleted" ? "" : yield* checkout.file(path, "head", maxBytes)
  if (after === undefined) return undefined
  // What it was before may be anything: then all of it is new.
  const before = status === "added" ? "" : ((yield* checkout.file(oldPath, "from", maxBytes)) ?? "")
  return { before, after }
})
