/**
 * Conversations of people with the service at a host: threads at lines of a change, and comments below changes, issues and commits. Each
 * method acts on one comment, by its place in a delivery or a list.
 */
import type { Effect } from "effect"
import type { CommentPlace, Person, Repo } from "../../domain/Change.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { HostWrite, OwnText } from "../HostWrite.ts"
import type { Writing } from "../WriteOwner.ts"

export interface ConversationComment {
  /** The same as `CommentPlace.id`. */
  readonly id: string
  readonly author: Person | undefined
  /** Whether the account of the credential wrote it, by its id. */
  readonly isOwn: boolean
  /** Whether the host names its author as a bot or an app. */
  readonly isBot: boolean
  readonly body: string
  /** Milliseconds since the epoch, by the clock of the host. */
  readonly createdAt: number
}

export interface Conversation {
  /** Oldest first. Of a thread at a line all its comments, below a change the newest ones; at most a hundred. Includes the comment itself. */
  readonly comments: ReadonlyArray<ConversationComment>
  /** Whether it has further comments, which are older. */
  readonly isPart: boolean
  /** Place of a thread at a line, as the host has it now; undefined for other comments. `line` is undefined where its code is gone. */
  readonly path: string | undefined
  readonly line: number | undefined
  readonly side: "new" | "old" | undefined
  /** False where the host does not report it. */
  readonly isResolved: boolean
  /** Whether the host permits no further comment, as on a locked change. */
  readonly isLocked: boolean
}

/** `eyes`: seen; `thumbs_up`: done; `confused`: failed. */
export type CommentReaction = "eyes" | "thumbs_up" | "confused"

export interface HostConversations {
  /** Returns the conversation of a comment; undefined if the comment was deleted or is not among those that are read. `number` is undefined for a commit, which `head` names. */
  readonly read: (
    repo: Repo,
    target: ConversationTarget,
    comment: CommentPlace
  ) => Effect.Effect<Conversation | undefined, ForgeError>
  /**
   * Writes into the thread of the comment, or below the change, issue or commit, and where the host refuses the line. The id is that of
   * `ConversationComment`, if the host returns it. Replies of one account to one change must not overlap its reviews: on Gitea both use
   * the pending review of the account.
   */
  readonly reply: (
    repo: Repo,
    target: ConversationTarget,
    comment: CommentPlace,
    body: string
  ) => Effect.Effect<HostWrite, ForgeError, Writing>
  /** Returns the text of the own account in the conversation that contains `marker`. */
  readonly findReply: (
    repo: Repo,
    target: ConversationTarget,
    comment: CommentPlace,
    marker: string
  ) => Effect.Effect<OwnText | undefined, ForgeError>
  /**
   * Adds the reaction of the own account to the comment. May be repeated. Does nothing for a deleted comment, and for one that has no
   * reactions at this host. Undefined where the host has none at all.
   */
  readonly react:
    | ((
        repo: Repo,
        target: ConversationTarget,
        comment: CommentPlace,
        reaction: CommentReaction
      ) => Effect.Effect<void, ForgeError, Writing>)
    | undefined
  /** Returns whether only people with access may read the repository; undefined where the host does not return it. */
  readonly isPrivate: (repo: Repo) => Effect.Effect<boolean | undefined, ForgeError>
}

/** The change, issue or commit below which a comment is. */
export interface ConversationTarget {
  readonly number: number | undefined
  readonly head: string | undefined
}
