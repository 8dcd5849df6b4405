/**
 * Receipts in the table `events`. Records are written by group commit: one insert and one sync for all that wait. Which
 * deliveries are there already is for DeliveryIndex to know.
 */
import { Array as Arr, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { decodeEventRows, eventColumns, toEventRow, toStoredEvent } from "./EventRow.ts"
import { deleteInSteps } from "./DeleteInSteps.ts"
import { DeliveryIndex } from "./DeliveryIndex.ts"
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

    const known = new DeliveryIndex()
    for (const row of yield* sql<{ seq: number; delivery_key: string }>`SELECT seq, delivery_key FROM events`.pipe(
      Effect.orDie
    )) {
      known.add(row.delivery_key, row.seq)
    }

    /** The events on record for these records' keys. A hit that is another key's counts for nothing. */
    const onRecord = Effect.fnUntraced(function* (records: ReadonlyArray<EventRecord>) {
      const seqs = records.flatMap((record) => known.find(record.deliveryKey))
      if (seqs.length === 0) return new Map<string, StoredEvent>()
      const events = yield* select(
        "receipts.store",
        sql`SELECT * FROM events WHERE ${sql.in("seq", seqs)}`.pipe(unavailable("receipts.store"))
      )
      return new Map(events.map((event) => [event.deliveryKey, event]))
    })

    const insert = (records: ReadonlyArray<EventRecord>) => {
      const values = records.flatMap(toEventRow)
      return sql.unsafe<{ seq: number }>(insertText(records.length), values).pipe(unavailable("receipts.store"))
    }

    const commit = Effect.fnUntraced(function* (records: ReadonlyArray<EventRecord>) {
      const first = yield* onRecord(records)
      // Of a delivery that came more than once within the batch, the first counts.
      const fresh = new Map<string, { readonly record: EventRecord; readonly at: number }>()
      for (const [at, record] of records.entries()) {
        if (!first.has(record.deliveryKey) && !fresh.has(record.deliveryKey))
          fresh.set(record.deliveryKey, { record, at })
      }
      const inserted = fresh.size === 0 ? [] : yield* insert(Array.from(fresh.values(), ({ record }) => record))
      // Rows of one insert are numbered in its order; the order in which they are answered is not promised.
      const seqs = inserted.map(({ seq }) => seq).toSorted((a, b) => a - b)
      for (const [at, key] of [...fresh.keys()].entries()) known.add(key, seqs[at] ?? 0)
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
            SELECT * FROM events
            WHERE work IS NOT NULL AND outcome IS NULL
              AND seq > COALESCE((SELECT seq FROM events WHERE id = ${after ?? ""}), 0)
            ORDER BY seq LIMIT ${limit}`.pipe(unavailable("receipts.unsettled"))
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
          sql<{ seq: number; delivery_key: string }>`
            DELETE FROM events WHERE seq IN (
              SELECT seq FROM events
              WHERE ((work IS NULL AND routing IS NULL) OR outcome IS NOT NULL)
                AND (received_at < ${before} OR id <= (SELECT id FROM events ORDER BY id DESC LIMIT 1 OFFSET ${maxCount}))
              ORDER BY id LIMIT ${step})
            RETURNING seq, delivery_key`.pipe(
            Effect.tap((rows) => Effect.sync(() => rows.forEach((row) => known.remove(row.delivery_key, row.seq))))
          )
        ).pipe(unavailable("receipts.prune"))
    })
  })
)

/** The statement for so many rows, without building it anew for each batch. */
const insertText = (() => {
  const columns = eventColumns.map((column) => `"${column}"`).join(", ")
  const row = `(${eventColumns.map(() => "?").join(", ")})`
  const texts = new Map<number, string>()
  return (rows: number): string => {
    const known = texts.get(rows)
    if (known !== undefined) return known
    const text = `INSERT INTO events (${columns}) VALUES ${Array.from({ length: rows }, () => row).join(", ")} RETURNING seq`
    texts.set(rows, text)
    return text
  }
})()

const stored: Receipt = { _tag: "Stored" }

/** A record of the same batch, as it stands once the batch is committed. */
const asStored = (record: EventRecord): StoredEvent => ({
  ...record,
  outcome: undefined,
  outcomeReason: undefined,
  outcomeAt: undefined,
  runId: undefined
})
