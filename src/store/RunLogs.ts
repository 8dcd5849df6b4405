/**
 * Lines of log about runs, and spans of their steps, for people who search for the reason of a result. Bounded per run; removed with the run.
 * The table is `run_logs`: one row per batch.
 */
import { Context, Schema, Effect, Layer } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../database/sql/DeleteInSteps.ts"
import { corrupt, unavailable } from "../database/sql/StoreFailure.ts"
import { newId } from "../domain/Ids.ts"
import { RunLogLine } from "../domain/RunLogLine.ts"
import { RunSpan } from "../domain/RunSpan.ts"

/** Maximum size of the log of a run in characters, its spans included. Further lines and spans are dropped. */
export const maxRunLog = 256 * 1024

export class RunLogs extends Context.Service<
  RunLogs,
  {
    /** Appends to the log of a run that has room left. */
    readonly append: (
      runId: string,
      batch: { readonly lines: ReadonlyArray<RunLogLine>; readonly spans?: ReadonlyArray<RunSpan> },
      now: number
    ) => Effect.Effect<void, StoreError>
    /** Returns the lines of a run in the order of their writing; `cut` if the log is full. */
    readonly read: (
      runId: string
    ) => Effect.Effect<{ readonly lines: ReadonlyArray<RunLogLine>; readonly cut: boolean }, StoreError>
    /** Returns the spans of a run in the order of their writing. */
    readonly spans: (runId: string) => Effect.Effect<ReadonlyArray<RunSpan>, StoreError>
    /** Removes batches that were written before this time. Those of removed runs go with the runs. Returns the number of batches. */
    readonly prune: (before: number) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/RunLogs") {}

const Lines = Schema.fromJsonString(Schema.Array(RunLogLine))
const encode = Schema.encodeSync(Lines)
const Spans = Schema.fromJsonString(Schema.Array(RunSpan))
const encodeSpans = Schema.encodeSync(Spans)
const decodeSpans = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ spans: Spans })))
const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ bytes: Schema.Int, lines: Lines })))

/** Removes the logs of these runs, in the transaction that removes the runs. */
export const removeRunLogs = (sql: SqlClient.SqlClient, runIds: ReadonlyArray<string>) =>
  sql`DELETE FROM run_logs WHERE ${sql.in("run_id", runIds)}`

export const layer: Layer.Layer<RunLogs, never, SqlClient.SqlClient> = Layer.effect(
  RunLogs,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return RunLogs.of({
      append: (runId, { lines, spans = [] }, now) =>
        Effect.suspend(() => {
          const text = encode(lines)
          const spanText = spans.length === 0 ? null : encodeSpans(spans)
          const length = text.length + (spanText?.length ?? 0)
          return sql`
            INSERT INTO run_logs (id, run_id, written_at, bytes, lines, spans)
            SELECT CAST(${newId()} AS TEXT), CAST(${runId} AS TEXT), CAST(${now} AS BIGINT), CAST(${length} AS BIGINT),
              CAST(${text} AS TEXT), CAST(${spanText} AS TEXT)
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
      spans: (runId) =>
        sql`SELECT spans FROM run_logs WHERE run_id = ${runId} AND spans IS NOT NULL ORDER BY id`.pipe(
          Effect.flatMap((rows) => Effect.mapError(decodeSpans(rows), (error) => corrupt("run_logs.spans", error))),
          Effect.map((rows) => rows.flatMap(({ spans }) => spans)),
          unavailable("run_logs.spans")
        ),
      prune: (before) =>
        deleteInSteps(
          (limit) => sql`DELETE FROM run_logs WHERE id IN (
            SELECT id FROM run_logs WHERE written_at < ${before} ORDER BY written_at LIMIT ${limit}) RETURNING id`
        ).pipe(unavailable("run_logs.prune"))
    })
  })
)
