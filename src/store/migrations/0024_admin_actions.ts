/** Stores actions of administrators (AdminActions), and who deleted a project, if an administrator did. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE admin_actions (
    id TEXT PRIMARY KEY NOT NULL, at BIGINT NOT NULL, actor TEXT NOT NULL, address TEXT NOT NULL, action TEXT NOT NULL,
    target TEXT NOT NULL, reason TEXT, outcome TEXT NOT NULL)`
  yield* sql`ALTER TABLE projects ADD COLUMN deleted_by TEXT`
})
