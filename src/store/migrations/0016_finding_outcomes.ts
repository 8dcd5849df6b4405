/**
 * Adds what became of published findings (domain/FindingOutcome.ts), one row per pull request and finding, and the reactions to comments that
 * a publication read, as JSON: null if it read none.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE publications ADD COLUMN reactions TEXT`
  yield* sql`CREATE TABLE finding_outcomes (
    target_key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    repository TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    category TEXT NOT NULL,
    severity TEXT NOT NULL,
    path TEXT NOT NULL,
    head TEXT NOT NULL,
    outcome TEXT NOT NULL,
    replied BIGINT NOT NULL,
    found_in TEXT NOT NULL,
    found_at BIGINT NOT NULL,
    decided_in TEXT NOT NULL,
    decided_at BIGINT NOT NULL,
    PRIMARY KEY (target_key, fingerprint)
  )`
  yield* sql`CREATE INDEX finding_outcomes_rates ON finding_outcomes (repository, agent, model, outcome)`
  yield* sql`CREATE INDEX finding_outcomes_age ON finding_outcomes (decided_at)`
})
