/**
 * Which deliveries are on record, by delivery key. Keys are random, so an index that takes each key at once writes a page of its
 * own per delivery: half the cost of a receipt (measured: 29 us a record with it, 15 us without). Here the events table alone
 * is written with each commit; keys go into the table `delivery_keys` some thousand at a time and in order, and until then
 * they are held in memory. A process that dies loses nothing: at start the keys of events newer than the table are read back.
 *
 * For the one process that owns the database (DataLock). Keys are the first 16 bytes of the SHA-256 of a delivery key; who asks
 * compares the event's own key before believing a hit.
 */
import { hash } from "node:crypto"
import { Array as Arr, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"

/** Keys held in memory before they are written. */
const held = 4096
/** Rows of one statement; SQLite takes 32 766 parameters. */
const chunk = 256

export interface DeliveryKeys {
  /** `seq` of the events that may carry these keys, by delivery key. */
  readonly find: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, number>, SqlError.SqlError>
  /** Notes committed events. Writes what is held once it is enough. */
  readonly note: (
    events: ReadonlyArray<{ readonly key: string; readonly seq: number }>
  ) => Effect.Effect<void, SqlError.SqlError>
  readonly forget: (keys: ReadonlyArray<string>) => Effect.Effect<void, SqlError.SqlError>
}

/** Sixteen bytes as a string of sixteen characters: what a Map can hold. */
const digest = (key: string): string => hash("sha256", key, "buffer").toString("latin1", 0, 16)
const bytes = (short: string): Uint8Array => Buffer.from(short, "latin1")

export const make: Effect.Effect<DeliveryKeys, SqlError.SqlError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const recent = new Map<string, number>()
  const unwritten = yield* sql<{ seq: number; delivery_key: string }>`
    SELECT seq, delivery_key FROM events WHERE seq > (SELECT COALESCE(MAX(seq), 0) FROM delivery_keys)`
  for (const row of unwritten) recent.set(digest(row.delivery_key), row.seq)

  const write = Effect.gen(function* () {
    const sorted = [...recent].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, seq]) => ({ key: bytes(key), seq }))
    for (const rows of Arr.chunksOf(sorted, chunk)) {
      yield* sql`INSERT INTO delivery_keys ${sql.insert(rows)} ON CONFLICT (key) DO UPDATE SET seq = excluded.seq`
    }
  }).pipe(sql.withTransaction, Effect.andThen(Effect.sync(() => recent.clear())))

  return {
    find: Effect.fnUntraced(function* (keys) {
      const found = new Map<string, number>()
      const short = new Map(keys.map((key) => [digest(key), key]))
      const rows = yield* sql<{ key: Uint8Array; seq: number }>`
        SELECT key, seq FROM delivery_keys WHERE ${sql.in("key", [...short.keys()].map(bytes))}`
      for (const row of rows) {
        const key = short.get(Buffer.from(row.key).toString("latin1"))
        if (key !== undefined) found.set(key, row.seq)
      }
      for (const [digested, key] of short) {
        const seq = recent.get(digested)
        if (seq !== undefined) found.set(key, seq)
      }
      return found
    }),
    note: Effect.fnUntraced(function* (events) {
      for (const { key, seq } of events) recent.set(digest(key), seq)
      if (recent.size >= held) yield* write
    }),
    forget: Effect.fnUntraced(function* (keys) {
      const short = keys.map(digest)
      for (const key of short) recent.delete(key)
      if (short.length > 0) yield* sql`DELETE FROM delivery_keys WHERE ${sql.in("key", short.map(bytes))}`
    })
  }
})
