/**
 * Stores event records, each delivery once: what SqlReceipts leaves to the database it stands on. In SQLite one process owns the
 * file and knows its deliveries by heart (IndexedDeliveries.ts); in Postgres many nodes write, and a unique index decides
 * (UniqueDeliveries.ts).
 */
import type { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { EventRecord, Receipt, StoredEvent } from "./Receipts.ts"
import type { StoreError } from "../database/StoreError.ts"

export interface Deliveries {
  /** All or nothing, durably; one answer per record, in order. */
  readonly store: (
    records: ReadonlyArray<EventRecord>
  ) => Effect.Effect<ReadonlyArray<Receipt>, SqlError.SqlError | StoreError>
  /** These are no longer on record. */
  readonly forget: (rows: ReadonlyArray<{ readonly seq: number; readonly delivery_key: string }>) => void
}

/** Reads events that a statement selects. */
export type SelectEvents = (
  rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>
) => Effect.Effect<ReadonlyArray<StoredEvent>, SqlError.SqlError | StoreError>

/** The first record of each delivery, with its place. Of a delivery that came more than once, the first counts. */
export const firstOfEach = (
  records: ReadonlyArray<EventRecord>
): Map<string, { readonly record: EventRecord; readonly at: number }> => {
  const first = new Map<string, { readonly record: EventRecord; readonly at: number }>()
  for (const [at, record] of records.entries())
    if (!first.has(record.deliveryKey)) first.set(record.deliveryKey, { record, at })
  return first
}

export const stored: Receipt = { _tag: "Stored" }

/** A record of the same batch, as it stands once the batch is committed. */
export const asStored = (record: EventRecord): StoredEvent => ({
  ...record,
  outcome: undefined,
  outcomeReason: undefined,
  outcomeAt: undefined,
  runId: undefined
})
