/** Stores revisions in the tables `config_revisions` and `config_operations`. */
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { ConfigOperationRecord } from "../../config/revisions/Revision.ts"
import { noRevision } from "../../config/revisions/Revision.ts"
import type { OperationLimits, RevisionRetention } from "../../config/revisions/RevisionStore.ts"
import { operationLimits, RevisionStore } from "../../config/revisions/RevisionStore.ts"
import type { RevisionRow } from "../../config/revisions/StoredRecords.ts"
import { parseOperation, parseRevision, parseSummary, toRow } from "../../config/revisions/StoredRecords.ts"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { oncePer } from "../../database/sql/OncePer.ts"
import { lockNames } from "../../database/RowLocks.ts"
import { parsed, sourceError } from "./StoredText.ts"

/** Rows that one statement removes. */
const chunk = 500

/** Postgres returns large integers as text. */
const normal = (row: RevisionRow): RevisionRow => ({
  ...row,
  number: Number(row.number),
  created_at: Number(row.created_at)
})

const insertOperation = (sql: SqlClient.SqlClient, namespace: string, operation: ConfigOperationRecord) =>
  sql`INSERT INTO config_operations ${sql.insert({
    namespace,
    operation_id: operation.operationId,
    operation: JSON.stringify(operation),
    revision: operation.result._tag === "Committed" ? operation.result.revision : null,
    created_at: operation.createdAt
  })}`

const readHead = (sql: SqlClient.SqlClient, namespace: string) =>
  Effect.map(
    sql<{ number: number; hash: string }>`
      SELECT number, hash FROM config_revisions WHERE namespace = ${namespace} ORDER BY number DESC LIMIT 1`,
    ([row]) => (row === undefined ? noRevision : { number: Number(row.number), hash: row.hash })
  )

/** Removes results without a revision from before `since`, and the oldest ones above the maximum. */
const pruneOperations = (sql: SqlClient.SqlClient, namespace: string, records: number, since: number) =>
  deleteInSteps(
    (step) => sql`
      DELETE FROM config_operations WHERE namespace = ${namespace} AND operation_id IN (
        SELECT operation_id FROM config_operations
        WHERE namespace = ${namespace} AND revision IS NULL AND (created_at < ${since} OR
          (created_at, operation_id) <= (
            SELECT created_at, operation_id FROM config_operations WHERE namespace = ${namespace} AND revision IS NULL
            ORDER BY created_at DESC, operation_id DESC LIMIT 1 OFFSET ${records}))
        ORDER BY created_at LIMIT ${step})
      RETURNING operation_id`
  )

export const makeRevisions = Effect.fnUntraced(function* (
  namespace: string,
  { records, surplus }: OperationLimits = operationLimits
) {
  const sql = yield* SqlClient.SqlClient
  const trim = oncePer(surplus, pruneOperations(sql, namespace, records, 0))
  const head = readHead(sql, namespace)
  const findOperation = Effect.fnUntraced(function* (id: string) {
    const [row] = yield* sql<{ operation: string }>`
      SELECT operation FROM config_operations WHERE namespace = ${namespace} AND operation_id = ${id}`
    return row === undefined ? undefined : yield* parsed("revisions.operation", parseOperation(row.operation))
  })
  const record = (operation: ConfigOperationRecord) => insertOperation(sql, namespace, operation)
  /** One writer of the namespace at a time. */
  const exclusively = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    sql.withTransaction(Effect.andThen(lockNames(sql, [`config:${namespace}`]), effect))
  return RevisionStore.of({
    head: sourceError("revisions.head")(head),
    read: Effect.fnUntraced(function* (number) {
      const [row] = yield* sql<RevisionRow>`
        SELECT number, hash, document, facts, diff, created_at FROM config_revisions
        WHERE namespace = ${namespace} AND number = ${number}`
      return row === undefined ? undefined : yield* parsed("revisions.read", parseRevision(normal(row)))
    }, sourceError("revisions.read")),
    list: Effect.fnUntraced(function* ({ before = Number.MAX_SAFE_INTEGER, limit }) {
      const rows = yield* sql<RevisionRow>`
        SELECT number, hash, facts, created_at FROM config_revisions
        WHERE namespace = ${namespace} AND number < ${before} ORDER BY number DESC LIMIT ${limit + 1}`
      const items = yield* Effect.forEach(rows.slice(0, limit), (row) =>
        parsed("revisions.list", parseSummary(normal(row)))
      )
      return { items, next: rows.length > limit ? items.at(-1)?.number : undefined }
    }, sourceError("revisions.list")),
    operation: (id) => sourceError("revisions.operation")(findOperation(id)),
    append: Effect.fnUntraced(
      function* (revision, onto) {
        const earlier = yield* findOperation(revision.operationId)
        if (earlier !== undefined) return { _tag: "Repeated", operation: earlier } as const
        const current = yield* head
        if (current.number !== onto.number || current.hash !== onto.hash) return { _tag: "Moved" } as const
        const createdAt = yield* Clock.currentTimeMillis
        const { number, operationId, rebasedFrom, requestHash } = revision
        yield* sql`INSERT INTO config_revisions ${sql.insert({ namespace, ...toRow(revision, createdAt) })}`
        yield* record({
          operationId,
          requestHash,
          createdAt,
          result: { _tag: "Committed", revision: number, rebasedFrom }
        })
        return { _tag: "Committed", revision: { ...revision, createdAt } } as const
      },
      exclusively,
      sourceError("revisions.append")
    ),
    conclude: Effect.fnUntraced(
      function* (operation) {
        const earlier = yield* findOperation(operation.operationId)
        if (earlier !== undefined) return earlier
        const full = { ...operation, createdAt: yield* Clock.currentTimeMillis }
        yield* record(full)
        return full
      },
      exclusively,
      Effect.tap(trim),
      sourceError("revisions.conclude")
    ),
    reseal: (number, hash, next) =>
      sql`UPDATE config_revisions SET document = ${next.document}, hash = ${next.hash}
        WHERE namespace = ${namespace} AND number = ${number} AND hash = ${hash} RETURNING number`.pipe(
        Effect.map((rows) => rows.length > 0),
        exclusively,
        sourceError("revisions.reseal")
      ),
    prune: (keep) =>
      exclusively(pruneRevisions(sql, namespace, keep)).pipe(
        Effect.tap(pruneOperations(sql, namespace, records, keep.since)),
        sourceError("revisions.prune")
      )
  })
})

const pruneRevisions = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  namespace: string,
  { count, pinned, protect, since }: RevisionRetention
) {
  const [head] = yield* sql<{ newest: number | null }>`
    SELECT max(number) AS newest FROM config_revisions WHERE namespace = ${namespace}`
  const newest = Number(head?.newest ?? 0)
  const rows = yield* sql<{ number: number }>`
    SELECT number FROM config_revisions
    WHERE namespace = ${namespace} AND number <= ${newest - Math.max(1, protect)}
      AND (number <= ${newest - count} OR created_at < ${since})`
  const numbers = rows.map((row) => Number(row.number)).filter((number) => !pinned.has(number))
  for (let at = 0; at < numbers.length; at += chunk) {
    const removed = numbers.slice(at, at + chunk)
    yield* sql`DELETE FROM config_revisions WHERE namespace = ${namespace} AND ${sql.in("number", removed)}`
    yield* sql`DELETE FROM config_operations WHERE namespace = ${namespace} AND ${sql.in("revision", removed)}`
  }
  return numbers.length
})
