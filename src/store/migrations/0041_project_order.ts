/** Indexes projects by repository, by which they are listed. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX projects_repository ON projects (repository, id)`
})
