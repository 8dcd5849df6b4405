/** Records of agent CLIs per run and pass (AgentPasses). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE agent_passes (
    id TEXT PRIMARY KEY, run_id TEXT NOT NULL, pass TEXT NOT NULL, written_at BIGINT NOT NULL, body TEXT NOT NULL)`
  yield* sql`CREATE INDEX agent_passes_run ON agent_passes (run_id, pass, id)`
  yield* sql`CREATE INDEX agent_passes_age ON agent_passes (written_at)`
})
