/**
 * Stores deliveries in a database that only this process writes: DeliveryIndex contains the stored keys, and sequence numbers are assigned
 * here, so that one insert without a result suffices.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { DeliveryKey } from "../../domain/Keys.ts"
import { asStored, firstOfEach, stored } from "./Deliveries.ts"
import type { Deliveries, SelectEvents } from "./Deliveries.ts"
import { DeliveryIndex } from "./DeliveryIndex.ts"
import { EventRecord } from "../Receipts.ts"
import type { Receipt, StoredEvent } from "../Receipts.ts"

/** Reads the keys of all records. */
export const make = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, select: SelectEvents) {
  const known = new DeliveryIndex()
  let last = 0
  for (const row of yield* sql<{ seq: number; delivery_key: DeliveryKey }>`SELECT seq, delivery_key FROM events`) {
    known.add(row.delivery_key, row.seq)
    last = Math.max(last, row.seq)
  }

  /** Returns the stored events with these records' keys. Hits with another key are ignored. */
  const onRecord = Effect.fnUntraced(function* (records: ReadonlyArray<EventRecord>) {
    const seqs = records.flatMap((record) => known.find(record.deliveryKey))
    if (seqs.length === 0) return new Map<string, StoredEvent>()
    const events = yield* select(sql`SELECT * FROM events WHERE ${sql.in("seq", seqs)}`)
    return new Map(events.map((event) => [event.deliveryKey, event]))
  })

  const deliveries: Deliveries = {
    store: Effect.fnUntraced(function* (records) {
      const first = yield* onRecord(records)
      const firsts = firstOfEach(records)
      const fresh = [...firsts.values()].filter(({ record }) => !first.has(record.deliveryKey))
      const numbered = fresh.map(({ record }, at) => ({ record, seq: last + 1 + at }))
      if (numbered.length > 0) {
        const values = numbered.flatMap(({ record, seq }) => [seq, ...EventRecord.toValues(record)])
        yield* sql.unsafe(insertText(numbered.length), values)
        for (const { record, seq } of numbered) known.add(record.deliveryKey, seq)
        last += numbered.length
      }
      return records.map((record, at): Receipt => {
        const earlier = first.get(record.deliveryKey)
        if (earlier !== undefined) return { _tag: "Duplicate", first: earlier }
        const own = firsts.get(record.deliveryKey)
        return own?.at === at ? stored : { _tag: "Duplicate", first: asStored(own?.record ?? record) }
      })
    }),
    removeFromIndex: (rows) => rows.forEach((row) => known.remove(row.delivery_key, row.seq))
  }
  return deliveries
})

/** Caches the statement for each number of rows. */
const insertText = (() => {
  const columns = ["seq", ...EventRecord.columns].map((column) => `"${column}"`).join(", ")
  const row = `(?${", ?".repeat(EventRecord.columns.length)})`
  const texts = new Map<number, string>()
  return (rows: number): string => {
    const known = texts.get(rows)
    if (known !== undefined) return known
    const text = `INSERT INTO events (${columns}) VALUES ${Array.from({ length: rows }, () => row).join(", ")}`
    texts.set(rows, text)
    return text
  }
})()
