/** Contract of a sender of messages, which a channel has. */
import type { Effect } from "effect"
import type { Operation } from "../../domain/Publication.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { HostTraffic } from "../../forge/HostTraffic.ts"
import type { Writing } from "../../forge/WriteOwner.ts"
import type { ChatSends } from "../../store/ChatSends.ts"
import type { ChannelMissing, ChatContext } from "../channels/Channel.ts"

export type ChatOperation = Extract<Operation, { readonly _tag: "Chat" }>

export interface MessageSend {
  /** Time in which a repeated message with the same key is one message; 0 without keys. */
  readonly keyMillis: number
  /** `key`: at most 50 characters. */
  readonly send: (
    operation: ChatOperation,
    key: string
  ) => Effect.Effect<void, ForgeError, ChatSends | HostTraffic | Writing>
}

export type MessageSender = (context: ChatContext) => Effect.Effect<MessageSend, ChannelMissing>
