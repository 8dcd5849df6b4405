/**
 * Adds indexes for the filters of lists. Runs have one per filter. Deliveries arrive in bursts, so that they have a single index with every column that
 * lists select by: it grows at its end, and reading a hundred thousand of its entries takes less time than reading as many records.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX runs_trigger ON runs (trigger_name, id)`
  yield* sql`CREATE INDEX runs_number ON runs (number, id) WHERE number IS NOT NULL`
  yield* sql`CREATE INDEX runs_workspace_status ON runs (workspace, status, id)`
  yield* sql`CREATE INDEX events_list ON events
    (id, decision, reason, outcome, workspace, trigger_name, provider, repo, target_key, number, received_at)`
})
