/** Complete head files for `review.incremental: false`; patch and files together stay within max_patch_bytes. */
import { Effect } from "effect"
import type { ReviewConfig } from "../config/schema/Review.ts"
import type { Checkout, CheckoutError } from "../vcs/Checkout.ts"
import type { ReadChange } from "./ReadChange.ts"

export interface WholeFiles {
  readonly texts: ReadonlyMap<string, string>
  readonly notices: ReadonlyArray<string>
}

export const readWholeFiles = Effect.fn("readWholeFiles")(function* (
  checkout: Checkout,
  change: ReadChange,
  review: Pick<ReviewConfig, "max_patch_bytes">
): Effect.fn.Return<WholeFiles, CheckoutError> {
  const texts = new Map<string, string>()
  let room = review.max_patch_bytes - change.bytes
  let left = 0
  for (const { path, status } of change.files) {
    // The diff of an added file is the file.
    if (status === "deleted" || status === "added") continue
    const text = room > 0 ? yield* checkout.file(path, "head", room) : undefined
    if (text === undefined) {
      left++
      continue
    }
    room -= Buffer.byteLength(text)
    texts.set(path, text)
  }
  const notices =
    left === 0
      ? []
      : [`${left} files are shown by their diff only: whole, they are over review.max_patch_bytes or not text.`]
  return { texts, notices }
})
