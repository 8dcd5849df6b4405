/**
 * Comments of people on reviews of Swarm, which sends no events. Replies are publications of the channel (swarm/SwarmChannel.ts).
 */
import { Context } from "effect"
import type { Effect } from "effect"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { SwarmQuestion } from "../domain/Change.ts"
import type { ForgeError } from "../forge/ForgeError.ts"
import type { SwarmServerChannel } from "./swarm/SwarmChannels.ts"

export type { SwarmServerChannel }

export interface ReviewComment {
  /** Number that Swarm gave it; later comments have greater ones. */
  readonly id: string
  readonly review: string
  /** Address of the comments of its review, as publications have it. */
  readonly url: string
  readonly author: string
  readonly body: string
  /** Whether it is in the thread of an earlier comment. */
  readonly isReply: boolean
  /** Milliseconds since the epoch, by the clock of Swarm. */
  readonly createdAt: number
}

export interface SwarmThread {
  /** User as whom the service comments. */
  readonly account: string
  /** Oldest first, up to the comment itself; empty if it was archived. */
  readonly texts: ReadonlyArray<{
    readonly id: string
    readonly author: string
    /** Whether the service wrote it, by its user and its marker. */
    readonly isOurs: boolean
    readonly body: string
  }>
  /** Whether the service opened the thread. */
  readonly isOurThread: boolean
  /** Problem that the thread is about. */
  readonly fingerprint: string | undefined
  readonly path: string | undefined
  readonly line: number | undefined
}

export class SwarmConversations extends Context.Service<
  SwarmConversations,
  {
    readonly channels: (snapshot: Snapshot) => ReadonlyArray<SwarmServerChannel>
    /**
     * Returns the comments of others on reviews after a comment, oldest first, by one request; Swarm limits their number. `last`: the comment
     * after which to continue. `account`: the user of the channel.
     */
    readonly commentsAfter: (
      channel: SwarmServerChannel,
      id: number
    ) => Effect.Effect<
      { readonly account: string; readonly comments: ReadonlyArray<ReviewComment>; readonly last: number },
      ForgeError
    >
    /** Reads the thread of a comment. Fails with `invalid` if the workspace does not have the channel any more. */
    readonly read: (workspace: Workspace, question: SwarmQuestion) => Effect.Effect<SwarmThread, ForgeError>
  }
>()("aicr/outputs/SwarmConversations") {}
