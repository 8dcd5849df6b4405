/** Batches in the tables `batches` and `batch_members`. A push and the batch it goes into are written in one transaction. */
import { Array as Arr, Effect, Layer } from "effect"
import type { Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { BatchStatus, canMove, isEnded, maxCommits, memberStatusIn, rangeOf } from "../domain/Batch.ts"
import { targetKey } from "../domain/Change.ts"
import { newIdAfter } from "../domain/Ids.ts"
import {
  decodeBatchRows,
  decodeMemberRows,
  decodePlacedRows,
  toBatch,
  toBatchRow,
  toMember,
  toPlaced
} from "./BatchRow.ts"
import { Batches } from "./Batches.ts"
import type { Batch, Joined, PushReceived } from "./Batches.ts"
import { deleteInSteps } from "./DeleteInSteps.ts"
import { forUpdate, lockNames } from "./RowLocks.ts"
import type { StoreError } from "./StoreError.ts"
import { corrupt, unavailable } from "./StoreFailure.ts"

type Failure = SqlError.SqlError | StoreError

export const layer: Layer.Layer<Batches, never, SqlClient.SqlClient> = Layer.effect(
  Batches,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const decoded = <A, B>(
      operation: string,
      rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>,
      decode: (rows: ReadonlyArray<object>) => Effect.Effect<ReadonlyArray<A>, Schema.SchemaError>,
      from: (row: A) => B
    ): Effect.Effect<ReadonlyArray<B>, Failure> =>
      Effect.flatMap(rows, (found) =>
        Effect.mapBoth(decode(found), { onFailure: (error) => corrupt(operation, error), onSuccess: Arr.map(from) })
      )
    const batchesOf = (operation: string, rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
      decoded(operation, rows, decodeBatchRows, toBatch)
    const membersOf = (batchId: string) =>
      decoded(
        "batches.members",
        sql`SELECT * FROM batch_members WHERE batch_id = ${batchId} ORDER BY event_id`,
        decodeMemberRows,
        toMember
      )

    const isFirst = (batch: Batch) =>
      Effect.map(
        sql`SELECT 1 FROM batches WHERE stream = ${batch.stream} AND id < ${batch.id} AND finished_at IS NULL LIMIT 1`,
        (earlier) => earlier.length === 0
      )

    const seal = Effect.fnUntraced(function* (batch: Batch, status: BatchStatus) {
      yield* sql`UPDATE batches SET status = ${status} WHERE id = ${batch.id}`
      yield* sql`UPDATE batch_members SET status = ${memberStatusIn(status)} WHERE batch_id = ${batch.id}`
    })

    const insertMember = (batchId: string, push: PushReceived) =>
      sql`INSERT INTO batch_members ${sql.insert({
        event_id: push.eventId,
        batch_id: batchId,
        before_id: push.change.base ?? null,
        after_id: push.change.head ?? "",
        commits: push.change.commits ?? 1,
        received_at: push.admittedAt,
        status: memberStatusIn("open")
      })}`

    const open = Effect.fnUntraced(function* (push: PushReceived, stream: string) {
      const [newest] = yield* sql<{ id: string }>`
        SELECT id FROM batches WHERE stream = ${stream} AND finished_at IS NULL ORDER BY id DESC LIMIT 1`
      const batch: Batch = {
        // Ids are the order of a stream, also where another node's clock is ahead.
        id: newIdAfter(newest?.id),
        stream,
        workspace: push.change.workspace,
        change: push.change,
        configHash: push.configHash,
        priority: push.priority,
        status: "open",
        commits: push.change.commits ?? 1,
        firstAt: push.admittedAt,
        dueAt: push.dueAt,
        entryId: undefined,
        reason: undefined,
        runId: undefined,
        finishedAt: undefined
      }
      yield* sql`INSERT INTO batches ${sql.insert(toBatchRow(batch))}`
      yield* insertMember(batch.id, push)
      return batch
    })

    const extend = Effect.fnUntraced(function* (batch: Batch, push: PushReceived) {
      yield* insertMember(batch.id, push)
      const [first, ...rest] = yield* membersOf(batch.id)
      if (first === undefined) return batch
      const { before, after } = rangeOf([first, ...rest])
      const commits = batch.commits + (push.change.commits ?? 1)
      const change = { ...push.change, base: before, head: after, commits }
      yield* sql`UPDATE batches SET change = ${JSON.stringify(change)}, commits = ${commits},
        config_hash = ${push.configHash} WHERE id = ${batch.id}`
      return { ...batch, change, commits, configHash: push.configHash }
    })

    const joinOne = Effect.fnUntraced(function* (push: PushReceived): Effect.fn.Return<Joined, Failure> {
      const [known] = yield* batchesOf(
        "batches.join",
        sql`SELECT batches.* FROM batches JOIN batch_members ON batch_members.batch_id = batches.id
          WHERE batch_members.event_id = ${push.eventId}`
      )
      if (known !== undefined) return { batch: known, how: "known", first: yield* isFirst(known) }
      const stream = targetKey(push.change)
      const [collecting] = yield* batchesOf(
        "batches.join",
        sql`SELECT * FROM batches WHERE stream = ${stream} AND status = 'open' ${forUpdate(sql)}`
      )
      if (collecting !== undefined && hasRoom(collecting, push)) {
        const batch = yield* extend(collecting, push)
        return { batch, how: "joined", first: yield* isFirst(batch) }
      }
      if (collecting !== undefined) yield* seal(collecting, "ready")
      const batch = yield* open(push, stream)
      return { batch, how: "opened", first: yield* isFirst(batch) }
    })

    return Batches.of({
      join: (pushes) =>
        lockNames(
          sql,
          pushes.map(({ change }) => `batches:${targetKey(change)}`)
        ).pipe(Effect.andThen(Effect.forEach(pushes, joinOne)), sql.withTransaction, unavailable("batches.join")),

      follow: Effect.fnUntraced(
        function* (batchId, { status, reason, runId }, now) {
          const [batch] = yield* batchesOf(
            "batches.follow",
            sql`SELECT * FROM batches WHERE id = ${batchId} ${forUpdate(sql)}`
          )
          if (batch === undefined || isEnded(batch.status)) return false
          const to = canMove(batch.status, status) ? status : batch.status
          if (to === batch.status && reason === batch.reason) return false
          yield* sql`UPDATE batches SET status = ${to}, reason = ${reason ?? null},
            run_id = ${runId ?? batch.runId ?? null},
            finished_at = ${isEnded(to) ? now : null} WHERE id = ${batchId}`
          yield* sql`UPDATE batch_members SET status = ${memberStatusIn(to)} WHERE batch_id = ${batchId}`
          return true
        },
        sql.withTransaction,
        unavailable("batches.follow")
      ),

      entered: (entries) =>
        Effect.forEach(
          entries,
          ({ batchId, entryId }) =>
            sql`UPDATE batches SET entry_id = ${entryId} WHERE id = ${batchId} AND finished_at IS NULL`,
          { discard: true }
        ).pipe(sql.withTransaction, unavailable("batches.entered")),

      reopen: (entryId) =>
        Effect.gen(function* () {
          const reopened = yield* sql<{ id: string }>`
            UPDATE batches SET status = 'ready', reason = NULL, run_id = NULL, finished_at = NULL
            WHERE entry_id = ${entryId} AND status = 'dead' RETURNING id`
          for (const { id } of reopened) {
            yield* sql`UPDATE batch_members SET status = ${memberStatusIn("ready")} WHERE batch_id = ${id}`
          }
        }).pipe(sql.withTransaction, unavailable("batches.reopen")),

      unfinished: ({ dueBy, after, limit }) =>
        decoded(
          "batches.unfinished",
          sql`SELECT batches.*, NOT EXISTS (
              SELECT 1 FROM batches earlier
              WHERE earlier.stream = batches.stream AND earlier.id < batches.id AND earlier.finished_at IS NULL
            ) AS is_first
            FROM batches WHERE ${sql.and([
              sql`finished_at IS NULL`,
              sql`id > ${after ?? ""}`,
              ...(dueBy === undefined ? [] : [sql`(due_at <= ${dueBy} OR entry_id IS NULL)`])
            ])} ORDER BY id LIMIT ${limit}`,
          decodePlacedRows,
          toPlaced
        ).pipe(unavailable("batches.unfinished")),

      get: (batchId) =>
        Effect.map(
          batchesOf("batches.get", sql`SELECT * FROM batches WHERE id = ${batchId}`),
          (found): Batch | undefined => found[0]
        ).pipe(unavailable("batches.get")),

      members: (batchId) => membersOf(batchId).pipe(unavailable("batches.members")),

      list: ({ workspace, status, before, limit }) =>
        batchesOf(
          "batches.list",
          sql`SELECT * FROM batches WHERE ${sql.and([
            sql`1 = 1`,
            ...(workspace === undefined ? [] : [sql`workspace = ${workspace}`]),
            ...(status === undefined ? [] : [sql`status = ${status}`]),
            ...(before === undefined ? [] : [sql`id < ${before}`])
          ])} ORDER BY id DESC LIMIT ${limit}`
        ).pipe(unavailable("batches.list")),

      prune: ({ maxCount, before }) =>
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
    })
  })
)

/** Of the same workspace, not due when the push came, and not full. */
const hasRoom = (batch: Batch, push: PushReceived): boolean =>
  batch.workspace === push.change.workspace &&
  push.admittedAt < batch.dueAt &&
  batch.commits + (push.change.commits ?? 1) <= maxCommits
