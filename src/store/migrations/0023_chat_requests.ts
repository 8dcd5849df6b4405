/**
 * Requests from chat and buttons of cards (ChatRequests). `chat_requests_key` makes a message that the platform delivers again a duplicate;
 * ended requests are kept longer than platforms deliver again, so that it also is the table of replays.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE chat_requests (
    id TEXT PRIMARY KEY NOT NULL,
    connection TEXT NOT NULL,
    message_key TEXT NOT NULL,
    conversation_kind TEXT NOT NULL,
    conversation TEXT NOT NULL,
    sender_type TEXT NOT NULL,
    sender TEXT NOT NULL,
    status TEXT NOT NULL,
    version INTEGER NOT NULL,
    command TEXT,
    workspace TEXT,
    facts TEXT NOT NULL,
    received_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  )`
  yield* sql`CREATE UNIQUE INDEX chat_requests_key ON chat_requests (connection, message_key)`
  yield* sql`CREATE INDEX chat_requests_open ON chat_requests (connection, id)
    WHERE status IN ('accepted', 'validating', 'queued', 'running', 'publishing')`
  yield* sql`CREATE INDEX chat_requests_sender ON chat_requests (connection, sender, received_at)`
  yield* sql`CREATE INDEX chat_requests_conversation ON chat_requests (connection, conversation, received_at)`
  yield* sql`CREATE INDEX chat_requests_waiting ON chat_requests (workspace) WHERE status = 'queued'`
  yield* sql`CREATE TABLE chat_actions (
    id TEXT PRIMARY KEY NOT NULL,
    connection TEXT NOT NULL,
    conversation TEXT NOT NULL,
    request_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_by TEXT
  )`
  yield* sql`CREATE INDEX chat_actions_expiry ON chat_actions (expires_at)`
})
