/**
 * Tables of chat: requests and buttons of cards (ChatRequests), states (ChatHealths) and owners (ChatOwners) of connections, the persons that
 * applications of WeCom reached on a day (ChatSends), and who gets no direct messages (DirectOptOuts). `chat_requests_key` makes a message that the platform delivers again a duplicate; ended
 * requests are kept longer than platforms deliver again, so that it also is the table of replays.
 */
import type { Statements } from "./Dialect.ts"

export const chat: Statements = () => [
  `CREATE TABLE chat_requests (
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
  )`,
  "CREATE UNIQUE INDEX chat_requests_key ON chat_requests (connection, message_key)",
  `CREATE INDEX chat_requests_open ON chat_requests (connection, id)
    WHERE status IN ('accepted', 'validating', 'queued', 'running', 'publishing')`,
  "CREATE INDEX chat_requests_sender ON chat_requests (connection, sender, received_at)",
  "CREATE INDEX chat_requests_conversation ON chat_requests (connection, conversation, received_at)",
  "CREATE INDEX chat_requests_waiting ON chat_requests (workspace) WHERE status = 'queued'",
  `CREATE TABLE chat_actions (
    id TEXT PRIMARY KEY NOT NULL,
    connection TEXT NOT NULL,
    conversation TEXT NOT NULL,
    request_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_by TEXT
  )`,
  "CREATE INDEX chat_actions_expiry ON chat_actions (expires_at)",
  `CREATE TABLE chat_health (
    connection TEXT PRIMARY KEY NOT NULL, state TEXT NOT NULL, detail TEXT, node TEXT NOT NULL, since BIGINT NOT NULL,
    reported_at BIGINT NOT NULL)`,
  "CREATE TABLE chat_owners (connection TEXT PRIMARY KEY NOT NULL, node TEXT NOT NULL, epoch BIGINT NOT NULL)",
  "CREATE TABLE chat_sends (app TEXT NOT NULL, day TEXT NOT NULL, persons BIGINT NOT NULL, PRIMARY KEY (app, day))",
  `CREATE TABLE direct_opt_outs (
    connection TEXT NOT NULL, sender_type TEXT NOT NULL, sender TEXT NOT NULL, since BIGINT NOT NULL,
    PRIMARY KEY (connection, sender_type, sender))`
]
