/**
 * Adds facts that place a delivery, the rule that decided it, and its repetitions. Records of one pull request are found by an index,
 * because retention may keep a million records.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE events ADD COLUMN number BIGINT`
  yield* sql`ALTER TABLE events ADD COLUMN head TEXT`
  yield* sql`ALTER TABLE events ADD COLUMN branch TEXT`
  yield* sql`ALTER TABLE events ADD COLUMN author TEXT`
  yield* sql`ALTER TABLE events ADD COLUMN sender TEXT`
  yield* sql`ALTER TABLE events ADD COLUMN command TEXT`
  yield* sql`ALTER TABLE events ADD COLUMN rule TEXT`
  yield* sql`ALTER TABLE events ADD COLUMN duplicates BIGINT`
  yield* sql`ALTER TABLE events ADD COLUMN duplicated_at BIGINT`
  yield* sql`CREATE INDEX events_number ON events (number, seq) WHERE number IS NOT NULL`
})
