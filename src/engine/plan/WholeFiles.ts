/** Complete head files for `review.incremental: false`; patch and files together stay within max_patch_bytes. */
import { Effect } from "effect"
import type { ReviewConfig } from "../../config/schema/Review.ts"
import type { Checkout, CheckoutError } from "../../vcs/Checkout.ts"
import type { AnalysisError } from "../AnalysisError.ts"
import type { ChangeThread } from "../ChangeThreads.ts"
import type { FileFacts } from "../work/ReadWork.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Reads the files into the thread of the change. Returns notices. */
export const readWholeFiles = Effect.fn("readWholeFiles")(function* (
  change: ChangeThread,
  checkout: Checkout,
  { files, bytes }: { readonly files: ReadonlyArray<FileFacts>; readonly bytes: number },
  review: Pick<ReviewConfig, "max_patch_bytes">
): Effect.fn.Return<ReadonlyArray<Reason>, CheckoutError | AnalysisError> {
  let room = review.max_patch_bytes - bytes
  let left = 0
  for (const { path, status } of files) {
    // The diff of an added file is the file.
    if (status === "deleted" || status === "added") continue
    const text = room > 0 ? yield* checkout.file(path, "head", room) : undefined
    if (text === undefined) {
      left++
      continue
    }
    room -= Buffer.byteLength(text)
    yield* change.run("addWhole", path, text)
  }
  return left === 0 ? [] : [{ _tag: "FilesByDiffOnly", count: left }]
})
