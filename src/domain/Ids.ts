/** Identifiers of records. Time-ordered (UUIDv7) so that index order is order of creation. */
import { v7 } from "uuid"

export type EventId = string
export type EntryId = string
export type RunId = string
export type WorkspaceId = string

/** Drawing random bytes costs several times the rest of an id (5 us), so they are drawn for 256 ids at once. */
const pool = new Uint8Array(4096)
let drawn = pool.length

const random = (): Uint8Array => {
  if (drawn === pool.length) {
    crypto.getRandomValues(pool)
    drawn = 0
  }
  return pool.subarray(drawn, (drawn += 16))
}

let lastMillis = 0
let sequence = 0
const sequences = 2 ** 31

/** A new UUIDv7, lower-case, 36 characters; strictly increasing within one process. */
export const newId = (): string => {
  const bytes = random()
  const now = Date.now()
  if (now > lastMillis) {
    lastMillis = now
    sequence = ((bytes[6] ?? 0) << 16) | ((bytes[7] ?? 0) << 8) | (bytes[8] ?? 0)
  } else if (++sequence === sequences) {
    lastMillis++
    sequence = 0
  }
  return v7({ random: bytes, msecs: lastMillis, seq: sequence })
}
