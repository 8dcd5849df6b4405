/**
 * Stores event records, each delivery once: the part of SqlReceipts that depends on the database. In SQLite one process owns the file and
 * has an in-memory index of its deliveries (IndexedDeliveries.ts); in Postgres many nodes write, and a unique index decides
 * (UniqueDeliveries.ts).
 */
import type { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { DeliveryKey } from "../../domain/Keys.ts"
import type { EventRecord, Receipt, StoredEvent } from "../Receipts.ts"
import type { StoreError } from "../../database/StoreError.ts"

export interface Deliveries {
  /** Stores records durably, all or nothing; returns one result per record, in order. */
  readonly store: (
    records: ReadonlyArray<EventRecord>
  ) => Effect.Effect<ReadonlyArray<Receipt>, SqlError.SqlError | StoreError>
  /** Removes deleted records from the index. */
  readonly removeFromIndex: (rows: ReadonlyArray<{ readonly seq: number; readonly delivery_key: DeliveryKey }>) => void
}

/** Decodes the events that a statement selects. */
export type SelectEvents = (
  rows: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>
) => Effect.Effect<ReadonlyArray<StoredEvent>, SqlError.SqlError | StoreError>

/** Returns the first record of each delivery, with its position. */
export const firstOfEach = (
  records: ReadonlyArray<EventRecord>
): Map<string, { readonly record: EventRecord; readonly at: number }> => {
  const first = new Map<string, { readonly record: EventRecord; readonly at: number }>()
  for (const [at, record] of records.entries())
    if (!first.has(record.deliveryKey)) first.set(record.deliveryKey, { record, at })
  return first
}

export const stored: Receipt = { _tag: "Stored" }

/** Returns a record of the same batch as it will be stored. */
export const asStored = (record: EventRecord): StoredEvent => ({
  ...record,
  outcome: undefined,
  outcomeReason: undefined,
  outcomeAt: undefined,
  runId: undefined,
  duplicates: 0,
  duplicatedAt: undefined
})
