/**
 * Receipts in the table `events`. Records are written by group commit: one insert and one sync for all that wait. Measured
 * with 32 callers and 1.2 KB records: 16 us of CPU a record, 53 000/s; prepared statements straight on the connection take
 * 14 us, which is not worth a second path.
 */
import { Array as Arr, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { decodeEventRows, toEventRow, toStoredEvent } from "./EventRow.ts"
import { deleteInSteps } from "./DeleteInSteps.ts"
import * as GroupCommit from "./GroupCommit.ts"
import { Receipts } from "./Receipts.ts"
import type { EventRecord, Receipt, StoredEvent } from "./Receipts.ts"
import { StoreError } from "./StoreError.ts"
import { corrupt, unavailable } from "./StoreFailure.ts"

const maxBatch = 512
/** Records waiting for their commit; beyond, a delivery is refused so that the host sends it again. */
const maxWaiting = 10_000

export const layer: Layer.Layer<Receipts, never, SqlClient.SqlClient> = Layer.effect(
  Receipts,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const select = (operation: string, rows: Effect.Effect<ReadonlyArray<object>, StoreError>) =>
      Effect.flatMap(rows, (found) =>
        Effect.mapBoth(decodeEventRows(found), {
          onFailure: (error) => corrupt(operation, error),
          onSuccess: (decoded) => decoded.map(toStoredEvent)
        })
      )

    const byDeliveryKey = (keys: ReadonlyArray<string>) =>
      select(
        "receipts.store",
        sql`SELECT * FROM events WHERE ${sql.in("delivery_key", keys)}`.pipe(unavailable("receipts.store"))
      )

    const commit = Effect.fnUntraced(function* (records: ReadonlyArray<EventRecord>) {
      if (!Arr.isReadonlyArrayNonEmpty(records)) return []
      const inserted = yield* sql<{ id: string }>`
        INSERT INTO events ${sql.insert(Arr.map(records, toEventRow))}
        ON CONFLICT DO NOTHING RETURNING id`.pipe(unavailable("receipts.store"))
      if (inserted.length === records.length) return records.map(() => stored)

      // A delivery that came twice within one batch counts once: each new id answers for one record.
      const fresh = new Set(inserted.map((row) => row.id))
      const isFresh = records.map((record) => fresh.delete(record.id))
      const keys = records.filter((_, index) => !isFresh[index]).map((record) => record.deliveryKey)
      const first = new Map((yield* byDeliveryKey(keys)).map((event) => [event.deliveryKey, event]))
      return records.map((record, index) =>
        isFresh[index] ? stored : duplicate(record, first.get(record.deliveryKey))
      )
    })

    const group = yield* GroupCommit.make({
      commit,
      maxBatch,
      maxWaiting,
      refuse: (why) =>
        new StoreError({
          reason: "unavailable",
          operation: "receipts.store",
          message:
            why === "full"
              ? `${maxWaiting} records wait to be stored; the disk does not keep up with what comes in.`
              : "The service is stopping."
        })
    })

    return Receipts.of({
      store: group.submit,

      settle: (eventIds, { outcome, reason, runId }, now) =>
        Effect.forEach(
          Arr.chunksOf(eventIds, maxBatch),
          (ids) => sql`
            UPDATE events
            SET outcome = ${outcome}, outcome_reason = ${reason ?? null}, outcome_at = ${now}, run_id = ${runId ?? null}
            WHERE ${sql.in("id", ids)} AND outcome IS NULL`,
          { discard: true }
        ).pipe(unavailable("receipts.settle")),

      reopen: (eventIds) =>
        Effect.forEach(
          Arr.chunksOf(eventIds, maxBatch),
          (ids) => sql`
            UPDATE events SET outcome = NULL, outcome_reason = NULL, outcome_at = NULL, run_id = NULL
            WHERE ${sql.in("id", ids)}`,
          { discard: true }
        ).pipe(unavailable("receipts.reopen")),

      unsettled: (after, limit) =>
        select(
          "receipts.unsettled",
          sql`
            SELECT * FROM events WHERE work IS NOT NULL AND outcome IS NULL AND id > ${after ?? ""}
            ORDER BY id LIMIT ${limit}`.pipe(unavailable("receipts.unsettled"))
        ),

      unrouted: (after, limit) =>
        select(
          "receipts.unrouted",
          sql`
            SELECT * FROM events WHERE routing IS NOT NULL AND outcome IS NULL AND id > ${after ?? ""}
            ORDER BY id LIMIT ${limit}`.pipe(unavailable("receipts.unrouted"))
        ),

      get: (id) =>
        Effect.map(
          select("receipts.get", sql`SELECT * FROM events WHERE id = ${id}`.pipe(unavailable("receipts.get"))),
          (events): StoredEvent | undefined => events[0]
        ),

      list: ({ workspace, decision, before, limit }) =>
        select(
          "receipts.list",
          sql`
            SELECT * FROM events WHERE ${sql.and([
              sql`1 = 1`,
              ...(workspace === undefined ? [] : [sql`workspace = ${workspace}`]),
              ...(decision === undefined ? [] : [sql`decision = ${decision}`]),
              ...(before === undefined ? [] : [sql`id < ${before}`])
            ])} ORDER BY id DESC LIMIT ${limit}`.pipe(unavailable("receipts.list"))
        ),

      prune: ({ maxCount, before }) =>
        deleteInSteps(
          (step) => sql`
            DELETE FROM events WHERE id IN (
              SELECT id FROM events
              WHERE ((work IS NULL AND routing IS NULL) OR outcome IS NOT NULL)
                AND (received_at < ${before} OR id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ${maxCount}))
              ORDER BY id LIMIT ${step})
            RETURNING id`
        ).pipe(unavailable("receipts.prune"))
    })
  })
)

const stored: Receipt = { _tag: "Stored" }

const duplicate = (record: EventRecord, first: StoredEvent | undefined): Receipt => {
  if (first === undefined) throw new Error(`Event id ${record.id} was used for two deliveries`)
  return { _tag: "Duplicate", first }
}
