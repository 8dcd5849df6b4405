import { Schema } from "effect"

/** The filtered patch is over review.max_patch_bytes: refused before any model call; the run fails and says so. */
export class PatchTooLarge extends Schema.TaggedError<PatchTooLarge>()("PatchTooLarge", {
  /** Bytes read until the limit was passed. */
  bytes: Schema.Int,
  limit: Schema.Int,
  message: Schema.String
}) {}
