/**
 * Signed statements of verdicts, and the public keys that sign them, among the objects. The month comes first, so that old statements are
 * removed without reading the others.
 *
 * ```
 * statements/<year>-<month>/<head>/<publication>.json    the signed envelope
 * statement-keys/<keyid>.json                            a public key, and since when it signs
 * ```
 */
import { createHash } from "node:crypto"
import { Effect, Option, Schema } from "effect"
import { unwrapStatement } from "../domain/SignedStatement.ts"
import { VerdictStatement } from "../domain/VerdictStatement.ts"
import { Objects } from "./Objects.ts"

const folder = "statements"
const keyFolder = "statement-keys"
const maxBytes = 64 * 1024 * 1024
const maxKeyBytes = 4_096

/** Milliseconds since the epoch, of a month in UTC. */
const monthOf = (time: number): string => new Date(time).toISOString().slice(0, "2026-01".length)

/** Returns the name of a head in keys of objects. */
const headName = (head: string): string =>
  /^[A-Za-z0-9]{1,64}$/.test(head) ? head : createHash("sha256").update(head).digest("hex")

/** Returns the key of the object of a statement. `id`: its publication, whose order is that of time. */
export const statementKey = (head: string, time: number, id: string): string =>
  `${folder}/${monthOf(time)}/${headName(head)}/${id}.json`

/** Stores an envelope. May be repeated. */
export const keepStatement = Effect.fnUntraced(function* (key: string, envelope: string) {
  yield* (yield* Objects).put(key, envelope)
})

export const hasStatement = Effect.fnUntraced(function* (key: string) {
  return yield* (yield* Objects).has(key)
})

interface StoredStatement {
  readonly envelope: string
  readonly statement: VerdictStatement
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(VerdictStatement))

/** Returns the newest statement about a head that is wanted, of the newest month that has one. */
export const findStatement = Effect.fnUntraced(function* (
  head: string,
  isWanted: (statement: VerdictStatement) => boolean
) {
  const objects = yield* Objects
  for (const month of (yield* objects.list(folder)).toReversed()) {
    const prefix = `${folder}/${month}/${headName(head)}`
    for (const name of (yield* objects.list(prefix)).toReversed()) {
      const envelope = yield* objects.get(`${prefix}/${name}`, maxBytes)
      const statement = Option.getOrUndefined(decode(envelope === undefined ? undefined : unwrapStatement(envelope)))
      if (envelope !== undefined && statement?.predicate.head === head && isWanted(statement))
        return { envelope, statement } satisfies StoredStatement
    }
  }
  return undefined
})

/** Removes the statements of months that ended before this time. */
export const pruneStatements = Effect.fnUntraced(function* (before: number) {
  const objects = yield* Objects
  for (const month of yield* objects.list(folder)) {
    if (month < monthOf(before)) yield* objects.remove(`${folder}/${month}`)
  }
})

/** A public key that signed statements. */
const KeyRecord = Schema.Struct({
  keyid: Schema.String,
  /** PEM. */
  public_key: Schema.String,
  /** Time from which it signs, in ISO 8601. */
  since: Schema.String
})
type KeyRecord = typeof KeyRecord.Type

const decodeKey = Schema.decodeUnknownOption(Schema.fromJsonString(KeyRecord))

/** Returns the keys, the one that signs now first. */
export const listKeys = Effect.gen(function* () {
  const objects = yield* Objects
  const keys: Array<KeyRecord> = []
  for (const name of yield* objects.list(keyFolder)) {
    const key = Option.getOrUndefined(decodeKey(yield* objects.get(`${keyFolder}/${name}`, maxKeyBytes)))
    if (key !== undefined) keys.push(key)
  }
  return keys.toSorted((one, other) => (one.since < other.since ? 1 : -1))
})

/** Records that a key signs from now on, unless it is the newest one. */
export const keepKey = Effect.fnUntraced(function* (key: Omit<KeyRecord, "since">, now: number) {
  const [newest] = yield* listKeys
  if (newest?.keyid === key.keyid) return false
  const record: KeyRecord = { ...key, since: new Date(now).toISOString() }
  yield* (yield* Objects).put(`${keyFolder}/${key.keyid}.json`, JSON.stringify(record))
  return true
})
