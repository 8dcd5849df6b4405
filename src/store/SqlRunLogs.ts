/** Stores lines of log about runs in the table `run_logs`, one row per batch. */
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../database/DeleteInSteps.ts"
import { corrupt, unavailable } from "../database/StoreFailure.ts"
import { newId } from "../domain/Ids.ts"
import { maxRunLog, RunLogLine, RunLogs } from "./RunLogs.ts"

const Lines = Schema.fromJsonString(Schema.Array(RunLogLine))
const encode = Schema.encodeSync(Lines)
const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ bytes: Schema.Int, lines: Lines })))

/** Removes the logs of these runs, in the transaction that removes the runs. */
export const removeRunLogs = (sql: SqlClient.SqlClient, runIds: ReadonlyArray<string>) =>
  sql`DELETE FROM run_logs WHERE ${sql.in("run_id", runIds)}`

export const layer: Layer.Layer<RunLogs, never, SqlClient.SqlClient> = Layer.effect(
  RunLogs,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return RunLogs.of({
      append: (runId, lines, now) =>
        Effect.suspend(() => {
          const text = encode(lines)
          return sql`
            INSERT INTO run_logs (id, run_id, written_at, bytes, lines)
            SELECT CAST(${newId()} AS TEXT), CAST(${runId} AS TEXT), CAST(${now} AS BIGINT), CAST(${text.length} AS BIGINT),
              CAST(${text} AS TEXT)
            WHERE (SELECT COALESCE(SUM(bytes), 0) FROM run_logs WHERE run_id = ${runId}) < ${maxRunLog}`
        }).pipe(Effect.asVoid, unavailable("run_logs.append")),
      read: (runId) =>
        sql`SELECT bytes, lines FROM run_logs WHERE run_id = ${runId} ORDER BY id`.pipe(
          Effect.flatMap((rows) => Effect.mapError(decode(rows), (error) => corrupt("run_logs.read", error))),
          Effect.map((rows) => ({
            lines: rows.flatMap(({ lines }) => lines),
            cut: rows.reduce((sum, { bytes }) => sum + bytes, 0) >= maxRunLog
          })),
          unavailable("run_logs.read")
        ),
      prune: (before) =>
        deleteInSteps(
          (limit) => sql`DELETE FROM run_logs WHERE id IN (
            SELECT id FROM run_logs WHERE written_at < ${before} ORDER BY written_at LIMIT ${limit}) RETURNING id`
        ).pipe(unavailable("run_logs.prune"))
    })
  })
)
