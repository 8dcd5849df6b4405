/**
 * Deliveries in a database that many nodes write: a unique index on the delivery key decides whose record stands, and the others
 * learn which it is. Storing the same record again says `Stored` again, so a batch whose answer was lost is simply repeated.
 *
 * All rows go as one array per column, so the statement is the same whatever their number. They are sorted by key: two nodes with
 * the same deliveries wait for each other in one order.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { asStored, firstOfEach, stored } from "./Deliveries.ts"
import type { Deliveries, SelectEvents } from "./Deliveries.ts"
import { eventColumns, toEventRow } from "./EventRow.ts"
import { isAnswerLost } from "../database/PostgresFailure.ts"
import type { EventRecord, Receipt, StoredEvent } from "./Receipts.ts"

const typeOf = (column: string): string => (column === "received_at" ? "bigint" : "text")

const insertText = `
  INSERT INTO events (${eventColumns.join(", ")})
  SELECT * FROM unnest(${eventColumns.map((column, at) => `$${at + 1}::${typeOf(column)}[]`).join(", ")})
  ON CONFLICT DO NOTHING RETURNING id`

export const make = (sql: SqlClient.SqlClient, select: SelectEvents): Deliveries => {
  const insert = (records: ReadonlyArray<EventRecord>) => {
    const rows = records.map(toEventRow)
    return sql.unsafe<{ id: string }>(
      insertText,
      eventColumns.map((_, at) => rows.map((row) => row[at] ?? null))
    )
  }

  /** Who stands for each of these keys, after their records were offered. */
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
      // What retention removed between the two statements is offered again.
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
      Effect.retry({ times: 1, while: isAnswerLost })
    ),
    forget: () => {}
  }
}
