/** Contract of a long connection (`src/chat/<platform>/Session.ts`): one socket, from its start to its end. Never reconnects by itself. */
import { Schema } from "effect"
import type { Effect } from "effect"
import { Reason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"
import type { StoreError } from "../database/StoreError.ts"
import type { ChatClient } from "./ChatClient.ts"
import type { Inbound } from "./Inbound.ts"
import type { StoredInbound } from "./StoreInbound.ts"

/** Pauses before reconnecting that a platform requests. */
export interface ReconnectPacing {
  /** Upper bound of the random pause before the first attempt. */
  readonly firstMillis: number
  /** Pause between attempts. */
  readonly intervalMillis: number
}

/** The end of a long connection. */
export class ChatSessionEnd extends Schema.TaggedError<ChatSessionEnd>()("ChatSessionEnd", {
  /**
   * `lost`: the network or the platform ended it, or it became silent. `refused`: the platform refuses the credentials or the
   * configuration. `limited`: the platform limits connections. `kicked`: another connection of the same bot took its place.
   */
  reason: Schema.Literals(["lost", "refused", "limited", "kicked"]),
  why: Reason
}) {
  override get message(): string {
    return inEnglish(this.why)
  }
}

export interface ChatHandlers {
  /** Stores a delivery. The platform gets its acknowledgement after that. */
  readonly receive: (inbound: Inbound) => Effect.Effect<StoredInbound, StoreError>
  /** The connection receives. May be called again, with other pauses. */
  readonly ready: (pacing: ReconnectPacing | undefined) => Effect.Effect<void>
}

export interface ChatSession {
  /** Names the settings that the session depends on: another one replaces it. */
  readonly key: string
  readonly run: (handlers: ChatHandlers) => Effect.Effect<never, ChatSessionEnd>
  /** Sends over the socket; undefined if messages are sent by requests of their own. */
  readonly client: ChatClient | undefined
}
