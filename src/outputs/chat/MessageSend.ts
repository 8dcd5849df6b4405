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
  /** Present where messages can be read again, and a change has a thread. */
  readonly threads?: MessageThreads
}

/** Messages in threads. Their ids are those of the platform. */
interface MessageThreads {
  /** Sends a message to a thread, or as the first of one. Returns its id. */
  readonly send: (
    operation: ChatOperation,
    key: string,
    thread: string | undefined
  ) => Effect.Effect<string | undefined, ForgeError, HostTraffic | Writing>
  /** Returns the id of the message with this key, if it was sent since a time in milliseconds since the epoch. */
  readonly find: (
    key: string,
    thread: string | undefined,
    since: number
  ) => Effect.Effect<string | undefined, ForgeError>
}

export type MessageSender = (context: ChatContext) => Effect.Effect<MessageSend, ChannelMissing>
