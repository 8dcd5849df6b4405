/**
 * Stores deliveries in a database that only this process writes: DeliveryIndex contains the stored keys, and sequence numbers are assigned
 * here, so that one insert without a result suffices.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { DeliveryKey } from "../../domain/Keys.ts"
import { asStored, firstOfEach, stored } from "./Deliveries.ts"
import type { Deliveries, SelectEvents } from "./Deliveries.ts"
import { eventColumns, eventValues } from "./EventRow.ts"
import type { EventRecord, Receipt, StoredEvent } from "../Receipts.ts"

/**
 * In-memory index of stored deliveries, by delivery key. Keys are random, so an index in the database would write a page for each delivery:
 * half the cost of a receipt (measured: 29 us a record with it, 13 us without). The one process that owns the database (DataLock) reads the
 * keys once at start instead: 16 bytes a record, twice that while the table is half empty.
 *
 * Open addressing over two typed arrays: a 53-bit hash of the key and the record's `seq`. Two keys may share a hash, so the caller compares
 * the record's key after a hit. The hash has another seed in each process.
 */

const free = 0
const removed = -1

export class DeliveryIndex {
  readonly #seed = (Math.random() * 0x1_0000_0000) >>> 0
  #hashes = new Float64Array(1024)
  /** Values are `free`, `removed`, or a sequence number from 1. */
  #seqs = new Float64Array(1024)
  #used = 0
  #size = 0

  /** Number of indexed records. */
  get size(): number {
    return this.#size
  }

  add(key: string, seq: number): void {
    if ((this.#used + 1) * 2 > this.#seqs.length) this.#resize()
    this.#put(this.#hash(key), seq)
    this.#used++
    this.#size++
  }

  /** Returns the sequence numbers of the records that may have this key: usually none or one. */
  find(key: string): ReadonlyArray<number> {
    const found: Array<number> = []
    const hash = this.#hash(key)
    for (let at = this.#start(hash); this.#seqs[at] !== free; at = this.#next(at)) {
      const seq = this.#seqs[at] ?? free
      if (seq !== removed && this.#hashes[at] === hash) found.push(seq)
    }
    return found
  }

  remove(key: string, seq: number): void {
    const hash = this.#hash(key)
    for (let at = this.#start(hash); this.#seqs[at] !== free; at = this.#next(at)) {
      if (this.#seqs[at] !== seq || this.#hashes[at] !== hash) continue
      this.#seqs[at] = removed
      this.#size--
      return
    }
  }

  #put(hash: number, seq: number): void {
    let at = this.#start(hash)
    while (this.#seqs[at] !== free) at = this.#next(at)
    this.#hashes[at] = hash
    this.#seqs[at] = seq
  }

  /** Doubles the table, or keeps its size if removals have filled it. */
  #resize(): void {
    const [hashes, seqs] = [this.#hashes, this.#seqs]
    const length = this.#size * 4 > seqs.length ? seqs.length * 2 : seqs.length
    this.#hashes = new Float64Array(length)
    this.#seqs = new Float64Array(length)
    seqs.forEach((seq, at) => {
      if (seq > 0) this.#put(hashes[at] ?? 0, seq)
    })
    this.#used = this.#size
  }

  #start(hash: number): number {
    return hash % this.#seqs.length
  }

  #next(at: number): number {
    return at + 1 === this.#seqs.length ? 0 : at + 1
  }

  #hash(key: string): number {
    let high = this.#seed ^ 0x9e37_79b9
    let low = this.#seed ^ 0x85eb_ca6b
    for (let at = 0; at < key.length; at++) {
      const code = key.charCodeAt(at)
      high = Math.imul(high ^ code, 0x9e37_79b1)
      low = Math.imul(low ^ code, 0x5f35_6495)
    }
    high = Math.imul(high ^ (high >>> 15), 0x85eb_ca77) ^ Math.imul(low ^ (low >>> 13), 0xc2b2_ae3d)
    low = Math.imul(low ^ (low >>> 15), 0x85eb_ca77) ^ Math.imul(high ^ (high >>> 13), 0xc2b2_ae3d)
    return (high & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0)
  }
}

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
        const values = numbered.flatMap(({ record, seq }) => [seq, ...eventValues(record)])
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
  const columns = ["seq", ...eventColumns].map((column) => `"${column}"`).join(", ")
  const row = `(?${", ?".repeat(eventColumns.length)})`
  const texts = new Map<number, string>()
  return (rows: number): string => {
    const known = texts.get(rows)
    if (known !== undefined) return known
    const text = `INSERT INTO events (${columns}) VALUES ${Array.from({ length: rows }, () => row).join(", ")}`
    texts.set(rows, text)
    return text
  }
})()
