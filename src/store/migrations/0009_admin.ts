/**
 * Creates sessions and failed logins. `digest` is the SHA-256 of a session's token, which is stored nowhere; `subject` is a client or the
 * digest of a user name.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE admin_sessions (
    digest TEXT PRIMARY KEY NOT NULL,
    username TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  )`
  yield* sql`CREATE INDEX admin_sessions_expires ON admin_sessions (expires_at)`
  yield* sql`CREATE TABLE login_attempts (
    id TEXT NOT NULL,
    subject TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (id, subject)
  )`
  yield* sql`CREATE INDEX login_attempts_subject ON login_attempts (subject, at)`
  yield* sql`CREATE INDEX login_attempts_at ON login_attempts (at)`
})
