import { Schema } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { inEnglish } from "../../text/en.ts"

/**
 * The filtered patch is over review.max_patch_bytes. It is refused before any model call, and the run fails with this
 * reason.
 */
export class PatchTooLarge extends Schema.TaggedError<PatchTooLarge>()("PatchTooLarge", {
  /** Bytes read until the limit was passed. */
  bytes: Schema.Int,
  limit: Schema.Int
}) {
  get why(): Reason {
    return { _tag: "PatchOverLimit", limit: this.limit }
  }

  override get message(): string {
    return inEnglish(this.why)
  }
}
