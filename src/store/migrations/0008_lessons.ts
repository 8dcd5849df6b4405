/** Creates the reflection memory: reactions to findings, one row per repository and finding. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE lessons (
    repository TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    verdict TEXT NOT NULL,
    category TEXT NOT NULL,
    severity TEXT NOT NULL,
    path TEXT NOT NULL,
    title TEXT NOT NULL,
    quote TEXT NOT NULL,
    size BIGINT NOT NULL,
    learned_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (repository, fingerprint)
  )`
  yield* sql`CREATE INDEX lessons_recall ON lessons (repository, learned_at)`
  yield* sql`CREATE INDEX lessons_expires ON lessons (expires_at)`
})
