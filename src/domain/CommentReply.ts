/** The reply to a comment of a person in a conversation about a review. What it changes at the host are publications. */
import { Schema } from "effect"
import { CommentPlace } from "./Change.ts"

/**
 * `none`: no words are needed. `replied`: to a question. `withdrawn`: the finding is wrong, as code shows. `kept`: the finding stays.
 * `needs_person`: people have to decide. `limited`: a limit of `review.conversation.limits` is reached. `unavailable`: no model is configured.
 */
export const ReplyOutcome = Schema.Literals([
  "none",
  "replied",
  "withdrawn",
  "kept",
  "needs_person",
  "limited",
  "unavailable"
])
export type ReplyOutcome = typeof ReplyOutcome.Type

export const CommentReply = Schema.Struct({
  outcome: ReplyOutcome,
  comment: CommentPlace,
  /** Text of the comment when it was read. */
  question: Schema.String,
  /** Markdown of the reply. Empty for an outcome without words. */
  text: Schema.String,
  /** Finding that the conversation is about. */
  fingerprint: Schema.optional(Schema.String),
  /** Code at the head that decided, and where it is. */
  evidence: Schema.optional(Schema.Struct({ path: Schema.String, line: Schema.Int, quote: Schema.String }))
})
export type CommentReply = typeof CommentReply.Type
