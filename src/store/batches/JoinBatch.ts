/** Puts a push into a batch: into the one that collects its stream, or into a new one. In one transaction. */
import { Clock, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { maxCommits, mayJoin, memberStatusIn, toRange } from "../../domain/Batch.ts"
import type { BatchStatus } from "../../domain/Batch.ts"
import { targetKey } from "../../domain/Change.ts"
import { newIdAfter } from "../../domain/Ids.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import type { TargetKey } from "../../domain/Keys.ts"
import { Batch, Member } from "../Batches.ts"
import type { Batches, Joined, PushReceived } from "../Batches.ts"
import { forUpdate, lockNames } from "../../database/RowLocks.ts"
import type { StoreError } from "../../database/StoreError.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"

export const selectBatches = (operation: string, rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
  selectAs(Batch, operation, rows)

export const selectMembers = (sql: SqlClient.SqlClient, batchId: string) =>
  selectAs(Member, "batches.members", sql`SELECT * FROM batch_members WHERE batch_id = ${batchId} ORDER BY event_id`)

/**
 * Returns whether the batch is of the same workspace, takes such a push, is not full, and was not due when the push was received. A report of
 * a server is routed later, perhaps after that time; then the batch must not be in the queue yet, because a running review would not be
 * repeated for a report that does not change its head.
 */
const hasRoom = (batch: Batch, push: PushReceived, isOpen: boolean): boolean =>
  batch.workspace === push.change.workspace &&
  push.admittedAt < batch.dueAt &&
  (isForgeKind(push.change.provider) || isOpen) &&
  mayJoin(batch.change, push.change) &&
  batch.commits + (push.change.commits ?? 1) <= maxCommits

const isFirst = (sql: SqlClient.SqlClient, batch: Batch) =>
  Effect.map(
    sql`SELECT 1 FROM batches WHERE stream = ${batch.stream} AND id < ${batch.id} AND finished_at IS NULL LIMIT 1`,
    (earlier) => earlier.length === 0
  )

const seal = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, batch: Batch, status: BatchStatus) {
  yield* sql`UPDATE batches SET status = ${status} WHERE id = ${batch.id}`
  yield* sql`UPDATE batch_members SET status = ${memberStatusIn(status)} WHERE batch_id = ${batch.id}`
})

const insertMember = (sql: SqlClient.SqlClient, batchId: string, push: PushReceived) =>
  sql`INSERT INTO batch_members ${sql.insert({
    batch_id: batchId,
    ...Member.toRow({
      eventId: push.eventId,
      before: push.change.base,
      after: push.change.head ?? "",
      commits: push.change.commits ?? 1,
      receivedAt: push.admittedAt,
      status: memberStatusIn("open"),
      covers: push.change.covers
    })
  })}`

const open = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, push: PushReceived, stream: TargetKey) {
  const [newest] = yield* sql<{ id: string }>`
    SELECT id FROM batches WHERE stream = ${stream} AND finished_at IS NULL ORDER BY id DESC LIMIT 1`
  const batch: Batch = {
    // Ids define the order of a stream, even if another node's clock is ahead.
    id: newIdAfter(newest?.id),
    stream,
    workspace: push.change.workspace,
    change: push.change,
    configHash: push.configHash,
    priority: push.priority,
    status: "open",
    commits: push.change.commits ?? 1,
    firstAt: push.admittedAt,
    dueAt: push.dueAt
  }
  yield* sql`INSERT INTO batches ${sql.insert(Batch.toRow(batch))}`
  yield* insertMember(sql, batch.id, push)
  return batch
})

const extend = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, batch: Batch, push: PushReceived) {
  yield* insertMember(sql, batch.id, push)
  const [first, ...rest] = yield* selectMembers(sql, batch.id)
  if (first === undefined) return batch
  const { before, after } = toRange([first, ...rest])
  const commits = batch.commits + (push.change.commits ?? 1)
  const change = { ...push.change, base: before, head: after, commits }
  yield* sql`UPDATE batches SET change = ${Batch.toColumn("change", change)}, commits = ${commits},
    config_hash = ${push.configHash} WHERE id = ${batch.id}`
  return { ...batch, change, commits, configHash: push.configHash }
})

/** `opened`: batches that this transaction has opened, which are visible to no other one. */
const joinOne = (sql: SqlClient.SqlClient, opened: Set<string>) =>
  Effect.fnUntraced(function* (push: PushReceived): Effect.fn.Return<Joined, SqlError.SqlError | StoreError> {
    const [existing] = yield* selectBatches(
      "batches.join",
      sql`SELECT batches.* FROM batches JOIN batch_members ON batch_members.batch_id = batches.id
        WHERE batch_members.event_id = ${push.eventId}`
    )
    if (existing !== undefined) return { batch: existing, how: "known", first: yield* isFirst(sql, existing) }
    const stream = targetKey(push.change)
    const [collecting] = yield* selectBatches(
      "batches.join",
      sql`SELECT * FROM batches WHERE stream = ${stream} AND status = 'open' ${forUpdate(sql)}`
    )
    const isQueued = (batch: Batch) => (opened.has(batch.id) ? Effect.succeed(false) : isFirst(sql, batch))
    const isOpen =
      collecting !== undefined &&
      ((yield* Clock.currentTimeMillis) < collecting.dueAt || !(yield* isQueued(collecting)))
    if (collecting !== undefined && hasRoom(collecting, push, isOpen)) {
      const batch = yield* extend(sql, collecting, push)
      return { batch, how: "joined", first: yield* isFirst(sql, batch) }
    }
    if (collecting !== undefined) yield* seal(sql, collecting, "ready")
    const batch = yield* open(sql, push, stream)
    opened.add(batch.id)
    return { batch, how: "opened", first: yield* isFirst(sql, batch) }
  })

export const join =
  (sql: SqlClient.SqlClient): Batches["Service"]["join"] =>
  (pushes) =>
    lockNames(
      sql,
      pushes.map(({ change }) => `batches:${targetKey(change)}`)
    ).pipe(
      Effect.andThen(Effect.suspend(() => Effect.forEach(pushes, joinOne(sql, new Set())))),
      sql.withTransaction,
      unavailable("batches.join")
    )
