/** Converts between requests from chat and rows of `chat_requests`. */
import { Effect, Schema } from "effect"
import { toStorable } from "../domain/Text.ts"
import type { StoreError } from "../database/StoreError.ts"
import { corrupt } from "../database/StoreFailure.ts"
import { ChatFacts, ChatRequest } from "./ChatRequests.ts"
import type { NewChatRequest } from "./ChatRequests.ts"

interface Row {
  readonly id: string
  readonly connection: string
  readonly message_key: string
  readonly conversation_kind: string
  readonly conversation: string
  readonly sender_type: string
  readonly sender: string
  readonly status: string
  readonly version: number | string
  readonly command: string | null
  readonly workspace: string | null
  readonly facts: string
  readonly received_at: number | string
  readonly updated_at: number | string
}

const FactsColumn = Schema.fromJsonString(ChatFacts)
const encode = Schema.encodeSync(FactsColumn)
const decode = Schema.decodeUnknownEffect(Schema.Struct({ ...ChatRequest.fields, facts: FactsColumn }))
export const encodeFacts = (facts: ChatFacts): string => toStorable(encode(facts))

export const toRow = (request: NewChatRequest) => ({
  id: request.id,
  connection: request.connection,
  message_key: toStorable(request.key),
  conversation_kind: request.conversation.kind,
  conversation: toStorable(request.conversation.id),
  sender_type: request.sender.type,
  sender: toStorable(request.sender.id),
  status: "accepted",
  version: 0,
  command: null,
  workspace: null,
  facts: encodeFacts(request.facts),
  received_at: request.receivedAt,
  updated_at: request.receivedAt
})

const fromRow = Effect.fnUntraced(function* (row: Row) {
  return yield* decode({
    id: row.id,
    connection: row.connection,
    key: row.message_key,
    conversation: { kind: row.conversation_kind, id: row.conversation },
    sender: { type: row.sender_type, id: row.sender },
    status: row.status,
    version: Number(row.version),
    ...(row.command === null ? {} : { command: row.command }),
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    facts: row.facts,
    receivedAt: Number(row.received_at),
    updatedAt: Number(row.updated_at)
  })
})

export const fromRows = (
  operation: string,
  rows: ReadonlyArray<object>
): Effect.Effect<ReadonlyArray<ChatRequest>, StoreError> =>
  // The columns are those of the table.
  Effect.forEach(rows as ReadonlyArray<Row>, fromRow).pipe(Effect.mapError((error) => corrupt(operation, error)))
