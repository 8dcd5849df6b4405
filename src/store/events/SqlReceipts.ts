/** Stores receipts in the table `events`. Records are written by group commit: one insert and one sync for all waiting records. */
import { Array as Arr, Clock, Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { firstIdAt } from "../../domain/Ids.ts"
import { DeliveryKey } from "../../domain/Keys.ts"
import type { Reason } from "../../domain/Reason.ts"
import { truncate } from "../../domain/Text.ts"
import { activity, countDecisions, list, pushers, search, select, sources, touches } from "./EventQueries.ts"
import { eventReplays, removeReplays } from "./EventReplays.ts"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import type { Deliveries, SelectEvents } from "./Deliveries.ts"
import * as GroupCommit from "../../database/sql/GroupCommit.ts"
import { SyncOnThread } from "../../database/sqlite/SqliteClient.ts"
import * as IndexedDeliveries from "./IndexedDeliveries.ts"
import { Receipts, StoredEvent } from "../Receipts.ts"
import type { EventRecord } from "../Receipts.ts"
import { StoreError } from "../../database/StoreError.ts"
import { corrupt, unavailable } from "../../database/sql/StoreFailure.ts"
import { isUndecided } from "../runs/SqlOutcomes.ts"
import * as UniqueDeliveries from "./UniqueDeliveries.ts"

const maxBatch = 512
/**
 * Records of a commit whose sync may block the thread. Measured with 32 senders: without it batches have 20 records instead of 27, and a record
 * costs 12 % more processor time.
 */
const minSyncOnThread = 8
/** Maximum number of records waiting for their commit; further deliveries are refused, so that the host resends them. */
const maxWaiting = 10_000

const encodeReason = (reason: Reason | undefined) =>
  reason === undefined ? null : StoredEvent.toColumn("outcomeReason", reason)

const quarantine = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, operation: string, id: string, why: string) {
  const now = yield* Clock.currentTimeMillis
  const reason: Reason = { _tag: "EventQuarantined", why: truncate(why, 500) }
  yield* Effect.logError("event record quarantined").pipe(Effect.annotateLogs({ event_id: id, reason: why }))
  yield* sql`
    UPDATE events SET outcome = 'failed', outcome_reason = ${encodeReason(reason)}, outcome_at = ${now}
    WHERE id = ${id}`.pipe(unavailable(operation))
})

/** Decodes rows for sweeps: an unreadable record gets an outcome with the reason, and the others are returned. */
const selectReadable = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  operation: string,
  rows: Effect.Effect<ReadonlyArray<{ readonly id: string }>, StoreError>
) {
  const events: Array<StoredEvent> = []
  for (const row of yield* rows) {
    const decoded = yield* Effect.result(StoredEvent.decodeRows([row]))
    if (Result.isSuccess(decoded)) events.push(...decoded.success)
    else yield* quarantine(sql, operation, row.id, corrupt(operation, decoded.failure).message)
  }
  return events
})

const selectStored: SelectEvents = (rows) => select("receipts.store", rows)

/** Commits all waiting records with one insert and one sync. */
const commitInGroups = (deliveries: Deliveries) =>
  GroupCommit.make({
    commit: (records: ReadonlyArray<EventRecord>) =>
      deliveries
        .store(records)
        .pipe(unavailable("receipts.store"), Effect.provideService(SyncOnThread, records.length >= minSyncOnThread)),
    maxBatch,
    maxWaiting,
    refuse: (why) =>
      new StoreError({
        reason: "unavailable",
        operation: "receipts.store",
        why: why === "full" ? { _tag: "RecordsBehind", count: maxWaiting } : { _tag: "ServiceStopping" }
      })
  })

const settle =
  (sql: SqlClient.SqlClient): Receipts["Service"]["settle"] =>
  (eventIds, { outcome, reason, runId }, now) =>
    Effect.forEach(
      Arr.chunksOf(eventIds, maxBatch),
      (ids) => sql`
        UPDATE events
        SET outcome = ${outcome}, outcome_reason = ${encodeReason(reason)}, outcome_at = ${now}, run_id = ${runId ?? null}
        WHERE ${sql.in("id", ids)} AND outcome IS NULL`,
      { discard: true }
    ).pipe(unavailable("receipts.settle"))

const revise =
  (sql: SqlClient.SqlClient): Receipts["Service"]["revise"] =>
  (eventIds, { outcome, reason, runId }, now) =>
    Effect.forEach(
      Arr.chunksOf(eventIds, maxBatch),
      (ids) => sql`
        UPDATE events
        SET outcome = ${outcome}, outcome_reason = ${encodeReason(reason)}, outcome_at = ${now}, run_id = ${runId}
        WHERE ${sql.in("id", ids)} AND (outcome IS NULL OR outcome = 'executed')`,
      { discard: true }
    ).pipe(unavailable("receipts.revise"))

const reopen =
  (sql: SqlClient.SqlClient): Receipts["Service"]["reopen"] =>
  (eventIds) =>
    Effect.forEach(
      Arr.chunksOf(eventIds, maxBatch),
      (ids) => sql`
        UPDATE events SET outcome = NULL, outcome_reason = NULL, outcome_at = NULL, run_id = NULL
        WHERE ${sql.in("id", ids)}`,
      { discard: true }
    ).pipe(unavailable("receipts.reopen"))

const unsettled =
  (sql: SqlClient.SqlClient): Receipts["Service"]["unsettled"] =>
  (after, limit) =>
    selectReadable(
      sql,
      "receipts.unsettled",
      sql<{ id: string }>`
        SELECT * FROM events
        WHERE work IS NOT NULL AND outcome IS NULL
          AND seq > COALESCE((SELECT seq FROM events WHERE id = ${after ?? ""}), 0)
        ORDER BY seq LIMIT ${limit}`.pipe(unavailable("receipts.unsettled"))
    )

const unrouted =
  (sql: SqlClient.SqlClient): Receipts["Service"]["unrouted"] =>
  (after, limit) =>
    selectReadable(
      sql,
      "receipts.unrouted",
      sql<{ id: string }>`
        SELECT * FROM events WHERE routing IS NOT NULL AND outcome IS NULL AND id > ${after ?? ""}
        ORDER BY id LIMIT ${limit}`.pipe(unavailable("receipts.unrouted"))
    )

const postpone =
  (sql: SqlClient.SqlClient): Receipts["Service"]["postpone"] =>
  (eventIds, reason) =>
    Effect.forEach(
      Arr.chunksOf(eventIds, maxBatch),
      (ids) => sql`
        UPDATE events SET outcome_reason = ${encodeReason(reason)}
        WHERE ${sql.in("id", ids)} AND routing IS NOT NULL AND outcome IS NULL`,
      { discard: true }
    ).pipe(unavailable("receipts.postpone"))

const decodeUnroutedCounts = Schema.decodeUnknownEffect(
  Schema.Array(
    Schema.Struct({
      workspaces: Schema.NullOr(Schema.fromJsonString(Schema.Array(Schema.String))),
      // Postgres returns counts as text.
      count: Schema.Union([Schema.Int, Schema.NumberFromString])
    })
  )
)

const countUnrouted = (sql: SqlClient.SqlClient): Receipts["Service"]["countUnrouted"] =>
  Effect.gen(function* () {
    const workspaces = sql.onDialectOrElse({
      pg: () => sql`routing::json ->> 'workspaces'`,
      orElse: () => sql`json_extract(routing, '$.workspaces')`
    })
    const rows = yield* sql`
      SELECT ${workspaces} AS workspaces, count(*) AS count
      FROM events WHERE routing IS NOT NULL AND outcome IS NULL GROUP BY 1`.pipe(unavailable("receipts.countUnrouted"))
    const counts = yield* decodeUnroutedCounts(rows).pipe(
      Effect.mapError((error) => corrupt("receipts.countUnrouted", error))
    )
    return counts.map((one) => ({ workspaces: one.workspaces ?? undefined, count: one.count }))
  })

const get =
  (sql: SqlClient.SqlClient): Receipts["Service"]["get"] =>
  (id) =>
    Effect.map(
      select("receipts.get", sql`SELECT * FROM events WHERE id = ${id}`.pipe(unavailable("receipts.get"))),
      (events): StoredEvent | undefined => events[0]
    )

const note =
  (sql: SqlClient.SqlClient): Receipts["Service"]["note"] =>
  ({ decided, duplicates }) =>
    Effect.gen(function* () {
      for (const [decision, notes] of Map.groupBy(decided, (one) => one.decision)) {
        for (const part of Arr.chunksOf(notes, maxBatch)) {
          const ids = part.map(({ id }) => id)
          yield* sql`UPDATE events SET decision = ${decision} WHERE ${sql.in("id", ids)}`
        }
      }
      const byId = Map.groupBy(duplicates, ({ id }) => id)
      for (const [times, notes] of Map.groupBy(byId, ([, all]) => all.length)) {
        for (const part of Arr.chunksOf(notes, maxBatch)) {
          const at = Math.max(...part.flatMap(([, all]) => all.map((one) => one.at)))
          yield* sql`
            UPDATE events
            SET duplicates = COALESCE(duplicates, 0) + ${times},
              duplicated_at = CASE WHEN duplicated_at > ${at} THEN duplicated_at ELSE ${at} END
            WHERE ${sql.in(
              "id",
              part.map(([id]) => id)
            )}`
        }
      }
    }).pipe(sql.withTransaction, unavailable("receipts.note"))

/** The end of a change whose findings have no outcome yet (SqlSettlements.ts): it counts as unfinished work, until it is too old. */
const isUnsettledEnd = (sql: SqlClient.SqlClient) => sql`
  (reason = 'closed' AND outcome IS NULL AND EXISTS (
    SELECT 1 FROM finding_outcomes
    WHERE finding_outcomes.target_key = events.target_key AND ${isUndecided(sql, sql`events.received_at`)}))`

const prune =
  (sql: SqlClient.SqlClient, deliveries: Deliveries): Receipts["Service"]["prune"] =>
  ({ maxCount, before }) =>
    Effect.gen(function* () {
      const removed = yield* deleteInSteps((step) =>
        sql<{ seq: number; delivery_key: DeliveryKey }>`
        DELETE FROM events WHERE seq IN (
          SELECT seq FROM events
          WHERE ((work IS NULL AND routing IS NULL) OR outcome IS NOT NULL)
            AND (received_at < ${before} OR (
              id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ${maxCount})
              AND NOT ${isUnsettledEnd(sql)}))
          ORDER BY id LIMIT ${step})
        RETURNING seq, delivery_key`.pipe(Effect.tap((rows) => Effect.sync(() => deliveries.removeFromIndex(rows))))
      )
      yield* removeReplays(sql, firstIdAt(before))
      return removed
    }).pipe(unavailable("receipts.prune"))

export const layer: Layer.Layer<Receipts, StoreError, SqlClient.SqlClient> = Layer.effect(
  Receipts,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const deliveries: Deliveries = yield* sql.onDialectOrElse({
      pg: () => Effect.succeed(UniqueDeliveries.make(sql, selectStored)),
      orElse: () => IndexedDeliveries.make(sql, selectStored).pipe(unavailable("receipts.open"))
    })
    const group = yield* commitInGroups(deliveries)
    return Receipts.of({
      store: group.submit,
      storeAll: group.submitAll,
      settle: settle(sql),
      revise: revise(sql),
      note: note(sql),
      reopen: reopen(sql),
      unsettled: unsettled(sql),
      unrouted: unrouted(sql),
      reported: (provider, revisions) =>
        select(
          "receipts.reported",
          sql`
            SELECT * FROM events
            WHERE routing IS NOT NULL AND ${sql.in("head", revisions)} AND provider = ${provider}
            ORDER BY id`.pipe(unavailable("receipts.reported"))
        ),
      postpone: postpone(sql),
      countUnrouted: countUnrouted(sql),
      probe: Effect.asVoid(sql`UPDATE events SET provider = provider WHERE seq = (SELECT max(seq) FROM events)`).pipe(
        unavailable("receipts.probe")
      ),
      get: get(sql),
      list: list(sql),
      search: search(sql),
      ...eventReplays(sql),
      sources: sources(sql),
      countDecisions: countDecisions(sql),
      pushers: pushers(sql),
      touches: touches(sql),
      activity: activity(sql),
      prune: prune(sql, deliveries)
    })
  })
)
