/** Reasons for which a comment gets no reply, and how a reply ended. */
import type { Params } from "../ReasonParams.ts"

export const conversationReasons = {
  ConversationOff: {},
  CommentNotFound: {},
  CommentOfBot: { account: "text" },
  ConversationLocked: {},
  AddressesOthers: {},
  NotAddressed: {},
  /** Several people write in the thread. */
  ThreadOfPeople: { person: "text" },
  MayNotConverse: { person: "text" },
  /** Ends of replies. `limit`: the field of the reached limit. */
  NoReplyNeeded: {},
  Replied: {},
  FindingWithdrawn: {},
  FindingKept: {},
  LeftToPeople: {},
  ReplyLimitReached: { limit: "text", count: "number" },
  /** Reviewed heads of a change and day whose findings coding agents got. */
  AgentRoundsUsed: { count: "number" },
  NoModelForReplies: {}
} as const satisfies Record<string, Params>
