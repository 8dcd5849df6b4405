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

/** A message and the thread that it is in; undefined for the first message of one. */
export interface ThreadedMessage {
  /** Id at the platform; undefined if the message was not found. */
  readonly id: string | undefined
  readonly thread: string | undefined
}

/** Messages in threads. One whose thread no longer exists is the first message of another. */
interface MessageThreads {
  /** Sends a message to a thread, or as the first of one. */
  readonly send: (
    operation: ChatOperation,
    key: string,
    thread: string | undefined
  ) => Effect.Effect<ThreadedMessage, ForgeError, HostTraffic | Writing>
  /** Returns the message with this key, if it was sent since a time in milliseconds since the epoch. */
  readonly find: (key: string, thread: string | undefined, since: number) => Effect.Effect<ThreadedMessage, ForgeError>
}

export type MessageSender = (context: ChatContext) => Effect.Effect<MessageSend, ChannelMissing>
