/** Numbers of deliveries with a wrong signature, per trigger and hour, by class of address (RejectedSignatures). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE rejected_signatures (
    hour BIGINT NOT NULL, trigger_name TEXT NOT NULL, provider TEXT NOT NULL, from_loopback BIGINT NOT NULL,
    from_private BIGINT NOT NULL, from_public BIGINT NOT NULL, last_at BIGINT NOT NULL, PRIMARY KEY (hour, trigger_name))`
})
