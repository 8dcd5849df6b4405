/** Persons to whom applications of WeCom sent messages (ChatSends): one row per application and day. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE chat_sends (
    app TEXT NOT NULL, day TEXT NOT NULL, persons BIGINT NOT NULL, PRIMARY KEY (app, day))`
})
