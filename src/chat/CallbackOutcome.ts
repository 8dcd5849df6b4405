/** Contract of `src/chat/<platform>/Callback.ts`: verifies and reads a callback. Pure, and never throws on any input. */
import type { Redacted } from "effect"
import type { Inbound } from "./Inbound.ts"

export interface CallbackRequest {
  readonly method: "GET" | "POST"
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** The raw bytes, over which signatures are computed. */
  readonly body: Uint8Array
  readonly now: number
}

/** Credentials and identities of a connection. */
export interface CallbackSecrets {
  readonly token: Redacted.Redacted
  /** EncodingAESKey (WeCom) or encrypt key (Feishu). */
  readonly key: Redacted.Redacted
  /** Accepted receivers (WeCom), or the application id (Feishu). */
  readonly receivers: ReadonlyArray<string>
  readonly tenant?: string | undefined
}

type CallbackRefusal = "signature" | "stale" | "receiver" | "malformed"

export interface CallbackReply {
  readonly contentType: string
  readonly body: string
}

export type CallbackOutcome =
  /** The platform verifies the address. */
  | { readonly _tag: "Challenge"; readonly reply: CallbackReply }
  | { readonly _tag: "Refused"; readonly reason: CallbackRefusal }
  | { readonly _tag: "Received"; readonly inbound: Inbound; readonly reply: CallbackReply }

export type ReadCallback = (request: CallbackRequest, secrets: CallbackSecrets) => CallbackOutcome

/** Signed times outside of this window are refused, so that a recorded request cannot be sent again later. */
export const windowMillis = 5 * 60 * 1000

export const refuse = (reason: CallbackRefusal): CallbackOutcome => ({ _tag: "Refused", reason })

/** Returns whether a time in seconds, as text, is within the window. */
export const isRecent = (seconds: string, now: number): boolean =>
  /^\d{1,12}$/.test(seconds) && Math.abs(Number(seconds) * 1000 - now) <= windowMillis
