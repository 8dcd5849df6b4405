/**
 * Receipts in the table `events`. Records are written by group commit: one insert and one sync for all that wait. Which
 * deliveries are there already is DeliveryKeys' to know.
 */
import { Array as Arr, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { decodeEventRows, toEventRow, toStoredEvent } from "./EventRow.ts"
import { deleteInSteps } from "./DeleteInSteps.ts"
import * as DeliveryKeys from "./DeliveryKeys.ts"
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

    const keys = yield* DeliveryKeys.make.pipe(Effect.orDie)

    /** The events on record for these records' keys. A key in the index whose event was removed, or is another's, counts as new. */
    const onRecord = Effect.fnUntraced(function* (records: ReadonlyArray<EventRecord>) {
      const known = yield* keys.find(records.map((record) => record.deliveryKey)).pipe(unavailable("receipts.store"))
      if (known.size === 0) return new Map<string, StoredEvent>()
      const events = yield* select(
        "receipts.store",
        sql`SELECT * FROM events WHERE ${sql.in("seq", [...known.values()])}`.pipe(unavailable("receipts.store"))
      )
      return new Map(events.map((event) => [event.deliveryKey, event]))
    })

    const commit = Effect.fnUntraced(function* (records: ReadonlyArray<EventRecord>) {
      const first = yield* onRecord(records)
      // Of a delivery that came more than once within the batch, the first counts.
      const fresh = new Map<string, { readonly record: EventRecord; readonly at: number }>()
      for (const [at, record] of records.entries()) {
        if (!first.has(record.deliveryKey) && !fresh.has(record.deliveryKey))
          fresh.set(record.deliveryKey, { record, at })
      }
      const rows = Array.from(fresh.values(), ({ record }) => toEventRow(record))
      if (Arr.isArrayNonEmpty(rows)) {
        const inserted = yield* sql<{ seq: number }>`
          INSERT INTO events ${sql.insert(rows)} RETURNING seq`.pipe(unavailable("receipts.store"))
        // Rows of one insert are numbered in its order; the order in which they are answered is not promised.
        const seqs = inserted.map(({ seq }) => seq).sort((a, b) => a - b)
        // The records are durable already: an index that cannot be written now is written with a later commit.
        yield* keys
          .note([...fresh.keys()].flatMap((key, index) => ({ key, seq: seqs[index] ?? 0 })))
          .pipe(Effect.catch((error) => Effect.logWarning(`Delivery keys are not written yet: ${error.message}`)))
      }
      return records.map((record, at): Receipt => {
        const { deliveryKey } = record
        const own = fresh.get(deliveryKey)
        if (own?.at === at) return stored
        return { _tag: "Duplicate", first: first.get(deliveryKey) ?? asStored(own?.record ?? record) }
      })
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
        deleteInSteps((step) =>
          sql<{ delivery_key: string }>`
            DELETE FROM events WHERE seq IN (
              SELECT seq FROM events
              WHERE ((work IS NULL AND routing IS NULL) OR outcome IS NOT NULL)
                AND (received_at < ${before} OR id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ${maxCount}))
              ORDER BY id LIMIT ${step})
            RETURNING delivery_key`.pipe(Effect.tap((rows) => keys.forget(rows.map((row) => row.delivery_key))))
        ).pipe(unavailable("receipts.prune"))
    })
  })
)

const stored: Receipt = { _tag: "Stored" }

/** A record of the same batch, as it stands once the batch is committed. */
const asStored = (record: EventRecord): StoredEvent => ({
  ...record,
  outcome: undefined,
  outcomeReason: undefined,
  outcomeAt: undefined,
  runId: undefined
})
