/** Stores batches in the tables `batches` and `batch_members`. A push and its batch are written in one transaction. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { batchLifecycle, memberStatusIn } from "../../domain/Batch.ts"
import { Batch, Batches, PlacedMember } from "../Batches.ts"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { join, selectBatches, selectMembers } from "./JoinBatch.ts"
import { forUpdate } from "../../database/RowLocks.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import * as Field from "../../domain/Field.ts"
import { record } from "../../domain/Record.ts"

const PlacedBatch = record({ ...Batch.fields, isFirst: Field.flag })

const follow = (sql: SqlClient.SqlClient): Batches["Service"]["follow"] =>
  Effect.fnUntraced(
    function* (batchId, { status, reason, runId }, now) {
      const [batch] = yield* selectBatches(
        "batches.follow",
        sql`SELECT * FROM batches WHERE id = ${batchId} ${forUpdate(sql)}`
      )
      if (batch === undefined || batchLifecycle.isTerminal(batch.status)) return false
      const to = batchLifecycle.canMove(batch.status, status) ? status : batch.status
      const reasonText = Batch.toColumn("reason", reason)
      if (to === batch.status && reasonText === Batch.toColumn("reason", batch.reason)) return false
      yield* sql`UPDATE batches SET status = ${to}, reason = ${reasonText},
        run_id = ${runId ?? batch.runId ?? null},
        finished_at = ${batchLifecycle.isTerminal(to) ? now : null} WHERE id = ${batchId}`
      yield* sql`UPDATE batch_members SET status = ${memberStatusIn(to)} WHERE batch_id = ${batchId}`
      return true
    },
    sql.withTransaction,
    unavailable("batches.follow")
  )

const entered =
  (sql: SqlClient.SqlClient): Batches["Service"]["entered"] =>
  (entries) =>
    Effect.forEach(
      entries,
      ({ batchId, entryId }) =>
        sql`UPDATE batches SET entry_id = ${entryId} WHERE id = ${batchId} AND finished_at IS NULL`,
      { discard: true }
    ).pipe(sql.withTransaction, unavailable("batches.entered"))

const reopen =
  (sql: SqlClient.SqlClient): Batches["Service"]["reopen"] =>
  (entryId) =>
    Effect.gen(function* () {
      const reopened = yield* sql<{ id: string }>`
        UPDATE batches SET status = 'ready', reason = NULL, run_id = NULL, finished_at = NULL
        WHERE entry_id = ${entryId} AND status = 'dead' RETURNING id`
      for (const { id } of reopened) {
        yield* sql`UPDATE batch_members SET status = ${memberStatusIn("ready")} WHERE batch_id = ${id}`
      }
    }).pipe(sql.withTransaction, unavailable("batches.reopen"))

const unfinished =
  (sql: SqlClient.SqlClient): Batches["Service"]["unfinished"] =>
  ({ dueBy, stream, after, limit }) =>
    selectAs(
      PlacedBatch,
      "batches.unfinished",
      sql`SELECT batches.*, NOT EXISTS (
          SELECT 1 FROM batches earlier
          WHERE earlier.stream = batches.stream AND earlier.id < batches.id AND earlier.finished_at IS NULL
        ) AS is_first
        FROM batches WHERE ${sql.and([
          sql`finished_at IS NULL`,
          sql`id > ${after ?? ""}`,
          ...(stream === undefined ? [] : [sql`stream = ${stream}`]),
          ...(dueBy === undefined ? [] : [sql`(due_at <= ${dueBy} OR entry_id IS NULL)`])
        ])} ORDER BY id LIMIT ${limit}`
    ).pipe(
      Effect.map((found) => found.map(({ isFirst, ...batch }) => ({ batch, first: isFirst }))),
      unavailable("batches.unfinished")
    )

const get =
  (sql: SqlClient.SqlClient): Batches["Service"]["get"] =>
  (batchId) =>
    Effect.map(
      selectBatches("batches.get", sql`SELECT * FROM batches WHERE id = ${batchId}`),
      (found): Batch | undefined => found[0]
    ).pipe(unavailable("batches.get"))

const members =
  (sql: SqlClient.SqlClient): Batches["Service"]["members"] =>
  (batchId) =>
    selectMembers(sql, batchId).pipe(unavailable("batches.members"))

const placed =
  (sql: SqlClient.SqlClient): Batches["Service"]["placed"] =>
  (streams, heads) =>
    selectAs(
      PlacedMember,
      "batches.placed",
      sql`SELECT batch_members.*, batches.stream FROM batch_members JOIN batches ON batches.id = batch_members.batch_id
        WHERE ${sql.in("stream", streams)} AND (${sql.in("after_id", heads)} OR covers IS NOT NULL)
          AND batches.status NOT IN ('dead', 'expired', 'cancelled')`
    ).pipe(unavailable("batches.placed"))

const list =
  (sql: SqlClient.SqlClient): Batches["Service"]["list"] =>
  ({ workspace, status, before, limit }) =>
    selectBatches(
      "batches.list",
      sql`SELECT * FROM batches WHERE ${sql.and([
        sql`1 = 1`,
        ...(workspace === undefined ? [] : [sql`workspace = ${workspace}`]),
        ...(status === undefined ? [] : [sql`status = ${status}`]),
        ...(before === undefined ? [] : [sql`id < ${before}`])
      ])} ORDER BY id DESC LIMIT ${limit}`
    ).pipe(unavailable("batches.list"))

const prune =
  (sql: SqlClient.SqlClient): Batches["Service"]["prune"] =>
  ({ maxCount, before }) =>
    deleteInSteps((step) =>
      Effect.gen(function* () {
        const removed = yield* sql<{ id: string }>`
          DELETE FROM batches WHERE id IN (
            SELECT id FROM batches WHERE finished_at IS NOT NULL AND (first_at < ${before} OR id <= (
              SELECT id FROM batches WHERE finished_at IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET ${maxCount}))
            ORDER BY id LIMIT ${step})
          RETURNING id`
        const ids = removed.map(({ id }) => id)
        if (ids.length > 0) yield* sql`DELETE FROM batch_members WHERE ${sql.in("batch_id", ids)}`
        return removed
      }).pipe(sql.withTransaction)
    ).pipe(unavailable("batches.prune"))

export const layer: Layer.Layer<Batches, never, SqlClient.SqlClient> = Layer.effect(
  Batches,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Batches.of({
      join: join(sql),
      follow: follow(sql),
      entered: entered(sql),
      reopen: reopen(sql),
      unfinished: unfinished(sql),
      get: get(sql),
      members: members(sql),
      placed: placed(sql),
      list: list(sql),
      prune: prune(sql)
    })
  )
)
