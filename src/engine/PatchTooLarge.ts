import { Schema } from "effect"

/**
 * The filtered patch is over review.max_patch_bytes. It is refused before any model call, and the run fails with this
 * message.
 */
export class PatchTooLarge extends Schema.TaggedError<PatchTooLarge>()("PatchTooLarge", {
  /** Bytes read until the limit was passed. */
  bytes: Schema.Int,
  limit: Schema.Int,
  message: Schema.String
}) {}
