/** A point of `aicr chat check` that failed, in the words of the command. */
import { Schema } from "effect"

export class CheckFailed extends Schema.TaggedError<CheckFailed>()("CheckFailed", { message: Schema.String }) {}
