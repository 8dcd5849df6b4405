/** Adds facts that lists of runs select by, and an index for the newest run of each target. Retention may keep a million runs. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE runs ADD COLUMN repo TEXT`
  yield* sql`ALTER TABLE runs ADD COLUMN number BIGINT`
  yield* sql`ALTER TABLE runs ADD COLUMN trigger_name TEXT`
  yield* sql.onDialectOrElse({
    // Postgres refuses to read JSON with some characters of texts that authors write, so the key of the target is read.
    pg: () => sql`
      UPDATE runs SET repo = trim(split_part(target_key, ':', 2), '/'), trigger_name = split_part(target_key, ':', 1),
        number = CASE WHEN split_part(target_key, ':', 3) <> 'push' AND split_part(target_key, ':', 4) ~ '^[0-9]{1,15}$'
          THEN split_part(target_key, ':', 4)::bigint END`,
    orElse: () => sql`
      UPDATE runs SET repo = lower(trim(json_extract(change, '$.repo.fullName'), '/')),
        number = json_extract(change, '$.target.number'), trigger_name = json_extract(change, '$.trigger')`
  })
  yield* sql`CREATE INDEX runs_repo ON runs (repo, id)`
  yield* sql`CREATE INDEX runs_newest ON runs (target_key, id)`
})
