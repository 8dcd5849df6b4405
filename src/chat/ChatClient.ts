/** Contract of a chat platform's outbound half: sends messages to conversations and edits them. Rows of a table, one per connection kind. */
import type { Effect } from "effect"
import type { ChatConversation, ChatPrincipal, ReplyTarget, SentChatMessage } from "../domain/ChatRequest.ts"
import type { ForgeError } from "../forge/ForgeError.ts"

export interface ChatText {
  /** Markdown of the platform. */
  readonly text: string
  readonly buttons: ReadonlyArray<{ readonly id: string; readonly label: string }>
  /** False for progress, which a later text replaces. */
  readonly isFinal: boolean
  /** True if an earlier attempt to send this text may have reached the platform. */
  readonly isRepeat: boolean
}

export interface ReplyAddress {
  readonly conversation: ChatConversation
  readonly sender: ChatPrincipal
  readonly reply: ReplyTarget
}

export interface ChatClient {
  /** Markup of its messages. */
  readonly markup: "feishu" | "slack" | "wecom"
  /** True if its messages show buttons. */
  readonly hasButtons: boolean
  /**
   * Time in which a second message with the same key is not delivered again; 0 if the platform has no keys, so that a message whose
   * response is missing is never sent again.
   */
  readonly keyMillis: number
  /** `key`: at most 50 characters. */
  readonly send: (to: ReplyAddress, message: ChatText, key: string) => Effect.Effect<SentChatMessage, ForgeError>
  /** Replaces the text of a message; undefined if the platform cannot. */
  readonly edit:
    | ((to: ReplyAddress, sent: SentChatMessage, message: ChatText) => Effect.Effect<void, ForgeError>)
    | undefined
  /** Returns whether this message can still be edited. */
  readonly isEditable: (sent: SentChatMessage, now: number) => boolean
  /** Returns whether a mention is one of this bot. */
  readonly isMention: (mention: string) => Effect.Effect<boolean, ForgeError>
  /** Verifies the credentials with a request that changes nothing. */
  readonly check: Effect.Effect<void, ForgeError>
}
