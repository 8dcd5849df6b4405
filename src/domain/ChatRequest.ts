/**
 * A request from chat: one message or button of a person, stored before the platform gets its response.
 *
 * ```
 * accepted ──▶ validating ──▶ publishing ──▶ succeeded | partial | failed | rejected | expired
 *                  └────────▶ queued ──▶ running ──▶ publishing
 *                                └──────────────────▶ publishing
 * accepted | validating ──▶ rejected | expired      without a message
 * ```
 * accepted: stored. validating: the owner of the connection checks who may use which command. queued and running: a review of it waits or
 * runs. publishing: its result is known (`outcome`) and its one message is sent to the conversation. The end is the outcome, or `partial`
 * if the message could not be delivered.
 */
import { Schema } from "effect"
import { makeLifecycle } from "./Lifecycle.ts"

export const ChatRequestStatus = Schema.Literals([
  "accepted",
  "validating",
  "queued",
  "running",
  "publishing",
  "succeeded",
  "partial",
  "failed",
  "rejected",
  "expired"
])
export type ChatRequestStatus = typeof ChatRequestStatus.Type

export const chatRequestLifecycle = makeLifecycle<ChatRequestStatus>(ChatRequestStatus.literals, {
  accepted: ["validating", "rejected", "expired"],
  validating: ["validating", "queued", "publishing", "rejected", "expired"],
  queued: ["queued", "running", "publishing"],
  running: ["running", "queued", "publishing"],
  publishing: ["publishing", "succeeded", "partial", "failed", "rejected", "expired"],
  succeeded: [],
  partial: [],
  failed: [],
  rejected: [],
  expired: []
})

/** Statuses in which a request waits for something. */
export const openStatuses = [
  "accepted",
  "validating",
  "queued",
  "running",
  "publishing"
] as const satisfies ReadonlyArray<ChatRequestStatus>

/** Result of a request, before its message is sent. */
export const ChatOutcome = Schema.Literals(["succeeded", "failed", "rejected", "expired", "partial"])
export type ChatOutcome = typeof ChatOutcome.Type

export const chatCommands = [
  "help",
  "chat-id",
  "review",
  "status",
  "cancel",
  "projects",
  "reviews",
  "commits",
  "prs",
  "detail",
  "prdetail",
  "queue",
  "running"
] as const
export type ChatCommandName = (typeof chatCommands)[number]

/** Commands with which people decide about messages to themselves. They need no binding. */
export const personalCommands = ["stop", "start"] as const
export type PersonalCommandName = (typeof personalCommands)[number]

/** Everything that a person may request: the commands, a question about a review, and the own direct messages. */
export const chatRequestNames = [...chatCommands, "ask", ...personalCommands] as const
export type ChatRequestName = (typeof chatRequestNames)[number]

/** A person of a chat platform by an exact id. Ids of different types are different people. */
export const ChatPrincipal = Schema.Struct({
  type: Schema.Literals(["wecom_userid", "wecom_encrypted_userid", "feishu_open_id", "slack_user"]),
  id: Schema.String
})
export type ChatPrincipal = typeof ChatPrincipal.Type

/** Place of a message. `direct`: one person and the application or bot. */
export const ChatConversation = Schema.Struct({ kind: Schema.Literals(["direct", "group"]), id: Schema.String })
export type ChatConversation = typeof ChatConversation.Type

/** Position of a message of ours at the platform: what an edit needs. */
export const SentChatMessage = Schema.Struct({
  messageId: Schema.optionalKey(Schema.String),
  /** Stream of a long connection and the time of its first part. */
  streamId: Schema.optionalKey(Schema.String),
  at: Schema.Int
})
export type SentChatMessage = typeof SentChatMessage.Type

/** Data that a reply to a message needs. */
export const ReplyTarget = Schema.Struct({
  /** Message at the platform that is replied to. */
  messageId: Schema.optionalKey(Schema.String),
  /** Request id of a long connection. */
  requestId: Schema.optionalKey(Schema.String),
  /** Path and query below the platform's address for one reply. */
  responsePath: Schema.optionalKey(Schema.String)
})
export type ReplyTarget = typeof ReplyTarget.Type
