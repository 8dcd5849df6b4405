/**
 * Content that platforms send, in one form: a message, a button of a card, a change of the directory, or something without a meaning for us. Only
 * `src/chat/<platform>/Messages.ts` reads payloads and converts them to this.
 */
import type { ChatConversation, ChatPrincipal, ReplyTarget } from "../domain/ChatRequest.ts"

export interface InboundMessage {
  readonly _tag: "Message"
  /** Names the message however often it is delivered. */
  readonly key: string
  readonly conversation: ChatConversation
  readonly sender: ChatPrincipal
  /** The text without mentions, as far as the platform marks them. */
  readonly text: string
  /** Whom the text is for: ids of the platform, or `true` where the platform delivers only mentions of the bot. */
  readonly mention: ReadonlyArray<string> | true | undefined
  readonly reply: ReplyTarget
}

interface InboundAction {
  readonly _tag: "Action"
  readonly key: string
  readonly conversation: ChatConversation
  readonly sender: ChatPrincipal
  /** Single-use id of the button. */
  readonly actionId: string
  readonly reply: ReplyTarget
}

export type Inbound =
  | InboundMessage
  | InboundAction
  /** Members or departments changed: snapshots of the directory are outdated. */
  | { readonly _tag: "DirectoryChanged" }
  /** The platform ended this long connection, because another one was opened. */
  | { readonly _tag: "Kicked" }
  | { readonly _tag: "Ignored"; readonly reason: string }

/** Longest text of a command, in characters. A longer message is no command. */
export const maxTextLength = 2000

/** Text of a message of another kind (a picture, a voice message) to this bot. It is no command, so that its sender gets a hint. */
export const noText = "[…]"
