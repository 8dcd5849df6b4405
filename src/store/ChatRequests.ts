/**
 * Requests from chat (domain/ChatRequest.ts): one per message or button, however often the platform delivers it. The request is durable
 * before the platform gets its response. Every change is a compare-and-set on the version, so that of two owners of a connection only one
 * takes each step. Buttons of cards have ids that are used once.
 */
import { Context, Schema } from "effect"
import type { Effect } from "effect"
import {
  chatRequestNames,
  ChatConversation,
  ChatOutcome,
  ChatPrincipal,
  ChatRequestStatus,
  ReplyTarget,
  SentChatMessage
} from "../domain/ChatRequest.ts"
import { Reason } from "../domain/Reason.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"
import type { StoreError } from "../database/StoreError.ts"
import type { IdRange } from "../database/sql/ListOrder.ts"

/** A button of a card. `subject`: the request that it belongs to; of `dismiss`, the id of a run, a space and a fingerprint. */
export const ChatButton = Schema.Struct({
  kind: Schema.Literals(["again", "cancel", "details", "dismiss"]),
  label: Schema.String,
  id: Schema.String,
  subject: Schema.String
})
export type ChatButton = typeof ChatButton.Type

/** Facts of a request that no query selects by. */
export const ChatFacts = Schema.Struct({
  /** The text of a message, or the id of a button. */
  text: Schema.String,
  isAction: Schema.Boolean,
  /** See `InboundMessage.mention`. */
  mention: Schema.optionalKey(Schema.Union([Schema.Array(Schema.String), Schema.Literal(true)])),
  reply: ReplyTarget,
  args: Schema.optionalKey(Schema.Array(Schema.String)),
  binding: Schema.optionalKey(Schema.String),
  /** Event record of the review. */
  eventId: Schema.optionalKey(Schema.String),
  /** Queue entry that the review was admitted to. */
  entryId: Schema.optionalKey(Schema.String),
  runId: Schema.optionalKey(Schema.String),
  /** Question about the run. */
  question: Schema.optionalKey(Schema.String),
  /** Message in the conversation that reports progress. */
  progress: Schema.optionalKey(SentChatMessage),
  /** Buttons of the progress message. */
  progressButtons: Schema.optionalKey(Schema.Array(ChatButton)),
  /** Text of the progress message. */
  progressText: Schema.optionalKey(Schema.String),
  /** The one message that ends the request. `text`: Markdown of the platform. */
  result: Schema.optionalKey(
    Schema.Struct({
      outcome: ChatOutcome,
      text: Schema.String,
      buttons: Schema.optionalKey(Schema.Array(ChatButton))
    })
  ),
  /** Reason of the outcome. */
  reason: Schema.optionalKey(Reason),
  /** Start of the send of the result whose response is not known. */
  sendingAt: Schema.optionalKey(Schema.Int),
  attempts: Schema.optionalKey(Schema.Int),
  notBefore: Schema.optionalKey(Schema.Int)
})
export type ChatFacts = typeof ChatFacts.Type

export const ChatRequest = record({
  id: Field.text,
  connection: Field.text,
  /** Names the message at the platform. Unique per connection. */
  key: Field.named("message_key", Field.outsideText),
  conversation: Field.group({
    kind: Field.named("conversation_kind", Field.stored(ChatConversation.fields.kind)),
    id: Field.named("conversation", Field.outsideText)
  }),
  sender: Field.group({
    type: Field.named("sender_type", Field.stored(ChatPrincipal.fields.type)),
    id: Field.named("sender", Field.outsideText)
  }),
  status: Field.stored(ChatRequestStatus),
  version: Field.integer,
  command: Field.optional(Field.stored(Schema.Literals(chatRequestNames))),
  workspace: Field.optional(Field.text),
  facts: Field.checkedJson(ChatFacts),
  receivedAt: Field.time,
  updatedAt: Field.time
})
export type ChatRequest = RecordValues<typeof ChatRequest>

export type NewChatRequest = Pick<
  ChatRequest,
  "id" | "connection" | "key" | "conversation" | "sender" | "facts" | "receivedAt"
>

export interface ChatChange {
  readonly status: ChatRequestStatus
  readonly command?: ChatRequest["command"]
  readonly workspace?: string | undefined
  /** Replaces the facts. */
  readonly facts?: ChatFacts | undefined
}

/** Counts requests since a time. Undefined fields select nothing. */
interface ChatCount {
  readonly connection: string
  readonly since: number
  readonly command?: ChatRequest["command"]
  readonly sender?: ChatPrincipal | undefined
  readonly conversation?: ChatConversation | undefined
  readonly statuses?: ReadonlyArray<ChatRequestStatus> | undefined
  /** Requests after this one do not count. */
  readonly upTo?: string | undefined
}

export const ChatAction = record({
  id: Field.text,
  connection: Field.text,
  conversation: Field.text,
  requestId: Field.text,
  kind: Field.stored(ChatButton.fields.kind),
  subject: Field.text,
  expiresAt: Field.time,
  /** Request that used it. */
  usedBy: Field.optional(Field.text)
})
export type ChatAction = RecordValues<typeof ChatAction>
type NewChatAction = Omit<ChatAction, "usedBy">

export class ChatRequests extends Context.Service<
  ChatRequests,
  {
    /** Stores a request durably. `duplicate`: the platform delivered it before. Concurrent calls share one transaction. */
    readonly add: (request: NewChatRequest) => Effect.Effect<"stored" | "duplicate", StoreError>
    /** Changes a request that still has this version; returns its new state, undefined if another owner has changed it. */
    readonly change: (
      request: ChatRequest,
      change: ChatChange,
      now: number
    ) => Effect.Effect<ChatRequest | undefined, StoreError>
    readonly get: (id: string) => Effect.Effect<ChatRequest | undefined, StoreError>
    /** Lists the open requests of a connection, oldest first. */
    readonly open: (connection: string, limit: number) => Effect.Effect<ReadonlyArray<ChatRequest>, StoreError>
    /** Numbers of open requests by connection. */
    readonly openConnections: Effect.Effect<ReadonlyMap<string, number>, StoreError>
    /** Lists requests, by id. */
    readonly list: (
      filter: IdRange & {
        readonly connection?: string | undefined
        readonly status?: ChatRequestStatus | undefined
        readonly workspace?: string | undefined
        readonly limit: number
      }
    ) => Effect.Effect<ReadonlyArray<ChatRequest>, StoreError>
    readonly count: (filter: ChatCount) => Effect.Effect<number, StoreError>
    /** Counts requests of a workspace whose review waits. */
    readonly waiting: (workspace: string) => Effect.Effect<number, StoreError>
    /** Stores buttons; existing ones do not change. */
    readonly addActions: (actions: ReadonlyArray<NewChatAction>) => Effect.Effect<void, StoreError>
    /** Returns the button, used or not; undefined if it is unknown. Marks nothing. */
    readonly getAction: (id: string) => Effect.Effect<ChatAction | undefined, StoreError>
    /** Marks the button as used by this request. Returns false if it is unknown, expired, or another request used it. */
    readonly useAction: (id: string, requestId: string, now: number) => Effect.Effect<boolean, StoreError>
    /**
     * Removes ended requests received before this time, ended ones beyond the newest `maxCount`, and expired buttons. None that was received
     * after `keptSince` is removed.
     */
    readonly prune: (
      keep: { readonly before: number; readonly maxCount: number; readonly keptSince: number },
      now: number
    ) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/ChatRequests") {}
