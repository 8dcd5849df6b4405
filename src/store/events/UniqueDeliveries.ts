/**
 * Stores deliveries in a database that many nodes write: a unique index on the delivery key decides which record is first, and the others
 * read it. Storing the same record again returns `Stored` again, so a batch whose response was lost is simply repeated.
 *
 * All rows are passed as one array per column, so that the statement is the same for any number of rows. They are sorted by key, so that
 * two nodes with the same deliveries never deadlock.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { asStored, firstOfEach, stored } from "./Deliveries.ts"
import type { Deliveries, SelectEvents } from "./Deliveries.ts"
import { isResponseLost } from "../../database/postgres/PostgresFailure.ts"
import { eventColumns, eventValues } from "./EventRow.ts"
import type { EventRecord, Receipt, StoredEvent } from "../Receipts.ts"

const typeOf = (column: string): string => (column === "received_at" || column === "number" ? "bigint" : "text")

const insertText = `
  INSERT INTO events (${eventColumns.join(", ")})
  SELECT * FROM unnest(${eventColumns.map((column, at) => `$${at + 1}::${typeOf(column)}[]`).join(", ")})
  ON CONFLICT DO NOTHING RETURNING id`

export const make = (sql: SqlClient.SqlClient, select: SelectEvents): Deliveries => {
  const insert = (records: ReadonlyArray<EventRecord>) => {
    const rows = records.map(eventValues)
    return sql.unsafe<{ id: string }>(
      insertText,
      eventColumns.map((_, at) => rows.map((row) => row[at] ?? null))
    )
  }

  /** Offers records and returns the first record of each key. */
  const offer = Effect.fnUntraced(function* (records: ReadonlyArray<EventRecord>) {
    const first = new Map<string, StoredEvent>()
    let open = records.toSorted((a, b) => (a.deliveryKey < b.deliveryKey ? -1 : 1))
    while (open.length > 0) {
      const inserted = new Set((yield* insert(open)).map(({ id }) => id))
      open = open.filter(({ id }) => !inserted.has(id))
      if (open.length === 0) return first
      const keys = open.map(({ deliveryKey }) => deliveryKey)
      const others = yield* select(sql`SELECT * FROM events WHERE delivery_key = ANY(${keys})`)
      for (const other of others) first.set(other.deliveryKey, other)
      // Keys that retention removed between the two statements are offered again.
      open = open.filter(({ deliveryKey }) => !first.has(deliveryKey))
    }
    return first
  })

  return {
    store: Effect.fnUntraced(
      function* (records) {
        const firsts = firstOfEach(records)
        const first = yield* offer(Array.from(firsts.values(), ({ record }) => record))
        return records.map((record, at): Receipt => {
          const other = first.get(record.deliveryKey)
          const own = firsts.get(record.deliveryKey)
          if (own?.at === at && (other === undefined || other.id === record.id)) return stored
          return { _tag: "Duplicate", first: other ?? asStored(own?.record ?? record) }
        })
      },
      Effect.retry({ times: 1, while: isResponseLost })
    ),
    removeFromIndex: () => {}
  }
}
