/** Reasons for which a comment gets no reply, and how a reply ended. */
import type { conversationReasons } from "../../domain/reasons/Conversation.ts"

export const conversationTexts = {
  ConversationOff: "{=review.conversation.enabled} is false",
  CommentNotFound: "the comment was not found: it was deleted, or the change has more reviews than are read",
  CommentOfBot: "{account} is a bot",
  ConversationLocked: "the conversation is locked",
  AddressesOthers: "the comment is addressed to somebody else",
  NotAddressed: "the comment is neither in a thread of a finding nor addressed to the service",
  ThreadOfPeople: "{person} writes in the thread too, and the comment does not mention the service",
  MayNotConverse: "{person} may not get replies ({=review.conversation.from})",
  NoReplyNeeded: "the comment needs no reply",
  Replied: "the question has its reply",
  FindingWithdrawn: "the finding is withdrawn",
  FindingKept: "the finding stays",
  LeftToPeople: "people have to decide",
  ReplyLimitReached: "{={limit}} is reached ({count})",
  AgentRoundsUsed:
    "{=review.conversation.limits.agent_rounds} is reached ({count}): a person decides how this change continues",
  NoModelForReplies: "no model is configured for replies; add {=llm.providers} and {=llm.model_chain}"
} as const satisfies Record<keyof typeof conversationReasons, string>
