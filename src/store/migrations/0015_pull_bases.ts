/** Base branches of pull requests (PullBases). `repo` is case-folded. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE pull_bases (
    trigger_name TEXT NOT NULL,
    repo TEXT NOT NULL,
    pull_number BIGINT NOT NULL,
    base_ref TEXT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (trigger_name, repo, pull_number)
  )`
  yield* sql`CREATE INDEX pull_bases_age ON pull_bases (seen_at)`
})
