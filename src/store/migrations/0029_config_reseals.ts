/** The latest sealing of credentials with another key, per namespace (ResealStore). */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE config_reseals (
    namespace TEXT PRIMARY KEY NOT NULL, version BIGINT NOT NULL, job TEXT NOT NULL)`
})
