/**
 * Decides whether a comment gets a reply, from its conversation at the host. Pure.
 *
 * | the comment                                                                | what follows                          |
 * |----------------------------------------------------------------------------|---------------------------------------|
 * | was deleted, or is by the service, a bot, or in a locked conversation       | nothing                               |
 * | begins with the mention of another person                                  | nothing                               |
 * | mentions the service or has its command                                   | a reply                               |
 * | is in no thread of the service, or another person wrote in it too          | nothing                               |
 * | is thanks                                                                  | a reaction                            |
 * | claims that the code was repaired                                          | the code at the head is compared      |
 * | otherwise                                                                  | a reply                               |
 *
 * Two services that reply to one another end at the limit of a thread at the latest.
 */
import { findAddressee, readRemark } from "../../src/domain/AddressedComment.ts"
import type { Reason } from "../../src/domain/Reason.ts"

/** A text of a conversation. */
export interface ConversationText {
  readonly id: string
  readonly author: string | undefined
  /** The service wrote it, by its marker and its records. */
  readonly isOurs: boolean
  readonly isBot: boolean
  readonly body: string
}

export interface ReplySituation {
  /** Oldest first. */
  readonly texts: ReadonlyArray<ConversationText>
  /** Undefined if it was deleted. */
  readonly comment: ConversationText | undefined
  /** Whether the service opened the thread. */
  readonly isOurThread: boolean
  readonly isLocked: boolean
  /** Account of the service, if it is known. */
  readonly account: string | undefined
  /** `review.conversation.limits.thread`. */
  readonly maxInThread: number
}

export type ReplyDecision =
  | { readonly _tag: "Ignore"; readonly reason: Reason }
  | { readonly _tag: "React" }
  | { readonly _tag: "CompareCode" }
  | { readonly _tag: "Limited"; readonly limit: string; readonly count: number }
  /** It names a number that the summary lists no finding with. */
  | { readonly _tag: "Unlisted"; readonly number: number }
  | { readonly _tag: "Reply" }

const ignore = (reason: Reason): ReplyDecision => ({ _tag: "Ignore", reason })

const isSameAuthor = (one: string | undefined, other: string | undefined): boolean =>
  one?.toLowerCase() === other?.toLowerCase()

export const decideReply = (situation: ReplySituation): ReplyDecision => {
  const { account, comment, isLocked, isOurThread, maxInThread, texts } = situation
  if (comment === undefined) return ignore({ _tag: "CommentNotFound" })
  const { author, body, isBot, isOurs } = comment
  if (isOurs) return ignore({ _tag: "OwnComment" })
  if (isBot) return ignore({ _tag: "CommentOfBot", account: author ?? "" })
  if (isLocked) return ignore({ _tag: "ConversationLocked" })
  const addressee = findAddressee(body, account)
  if (addressee === "person") return ignore({ _tag: "AddressesOthers" })
  if (addressee === "nobody") {
    if (!isOurThread) return ignore({ _tag: "NotAddressed" })
    const other = texts.find((text) => !text.isOurs && !text.isBot && !isSameAuthor(text.author, author))
    if (other !== undefined) return ignore({ _tag: "ThreadOfPeople", person: other.author ?? "" })
  }
  const remark = readRemark(body)
  if (remark === "thanks" || (remark === "fixed" && !isOurThread)) return { _tag: "React" }
  const ours = texts.filter((text) => text.isOurs).length
  if (isOurThread && ours - 1 >= maxInThread)
    return { _tag: "Limited", limit: "review.conversation.limits.thread", count: maxInThread }
  return { _tag: remark === "fixed" ? "CompareCode" : "Reply" }
}
