/** Reads comments of all hosts as parts of a conversation, whose size is bounded. Pure. */
import type { CommentPlace, Person } from "../../domain/Change.ts"
import { isBy } from "./OwnAccount.ts"
import type { Account, Author } from "./OwnAccount.ts"
import type { Conversation, ConversationComment } from "./HostConversations.ts"
import { readComment } from "./ReadChanges.ts"

/** Most comments of a conversation that are returned, in addition to the first one of a thread at a line and those of the service in it. */
export const maxConversation = 100

interface CommentOfHost {
  readonly id: string
  readonly body: string | null | undefined
  readonly person: Person | undefined
  readonly author: Author
  readonly isBot: boolean
  readonly createdAt: string | null | undefined
}

/** Returns the comment with a bounded text; undefined for one without a time. */
export const readConversationComment = (
  { author, body, createdAt, id, isBot, person }: CommentOfHost,
  account: Account
): ConversationComment | undefined => {
  const comment = readComment({ body, author: person, createdAt })
  return comment === undefined ? undefined : { id, ...comment, isOwn: isBy(author, account), isBot }
}

/** Hosts return times in seconds, and number comments in their order. */
const readNumber = ({ id }: ConversationComment): number => Number(id.slice(id.lastIndexOf("-") + 1))

type Facts = Pick<Conversation, "isLocked"> & Partial<Pick<Conversation, "path" | "line" | "side" | "isResolved">>

/**
 * Returns the newest comments of a conversation, and the comment itself; undefined if it has no such comment. The first comment of a thread names
 * its finding, and those of the service count towards its limit, however long the thread is.
 */
export const toConversation = (
  comments: ReadonlyArray<ConversationComment>,
  { id }: CommentPlace,
  { isMore, ...facts }: Facts & { readonly isMore: boolean }
): Conversation | undefined => {
  const unique = new Map(comments.map((comment) => [comment.id, comment]))
  const sorted = [...unique.values()].toSorted((a, b) => a.createdAt - b.createdAt || readNumber(a) - readNumber(b))
  const own = sorted.find((comment) => comment.id === id)
  if (own === undefined) return undefined
  const newest = sorted.slice(-maxConversation)
  const kept = newest.includes(own) ? newest : [own, ...newest.slice(1)]
  return {
    comments: facts.path === undefined ? kept : sorted.filter((one, at) => at === 0 || one.isOwn || kept.includes(one)),
    isPart: isMore || sorted.length > maxConversation,
    path: undefined,
    line: undefined,
    side: undefined,
    isResolved: false,
    ...facts
  }
}
