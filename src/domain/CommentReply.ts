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

/**
 * Reason for which an objection that the model accepted has no effect. `unproven`: the quoted code is not at the head. `unconfirmed`: the person
 * has no right to dismiss, and a second reading of the code did not confirm it. `repeated`: there was an objection on this head before.
 */
export const ReplyRuling = Schema.Literals(["unproven", "unconfirmed", "repeated"])
export type ReplyRuling = typeof ReplyRuling.Type

export const CommentReply = Schema.Struct({
  outcome: ReplyOutcome,
  comment: CommentPlace,
  /** Text of the comment when it was read. */
  question: Schema.String,
  /** Markdown of the reply. Empty for an outcome without words. */
  text: Schema.String,
  /** Finding that the conversation is about. */
  fingerprint: Schema.optional(Schema.String),
  /** Present if its text replaces that of the model. */
  ruling: Schema.optional(ReplyRuling),
  /** Code at the head that decided, and where it is. */
  evidence: Schema.optional(Schema.Struct({ path: Schema.String, line: Schema.Int, quote: Schema.String }))
})
export type CommentReply = typeof CommentReply.Type
