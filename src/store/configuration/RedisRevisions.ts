/** Stores revisions in Redis: a hash for each, an index by number, and the results of operations. */
import { Clock, Effect, Result } from "effect"
import type { ConfigOperationRecord, NewRevision, RevisionHead } from "../../config/revisions/Revision.ts"
import { noRevision } from "../../config/revisions/Revision.ts"
import { operationLimits, RevisionStore } from "../../config/revisions/RevisionStore.ts"
import type { OperationLimits, RevisionRetention } from "../../config/revisions/RevisionStore.ts"
import type { RevisionRow } from "../../config/revisions/StoredRecords.ts"
import { parseOperation, parseRevision, parseSummary, toRow } from "../../config/revisions/StoredRecords.ts"
import { oncePer } from "../../database/sql/OncePer.ts"
import type { SourceCall } from "./RedisCall.ts"
import { texts } from "./RedisCall.ts"
import { parsed } from "./StoredText.ts"

/** KEYS: head, revision, operations, revisions. ARGV: number and hash of the head, row, operation id, operation, time. */
const appendScript = `
local earlier = redis.call('HGET', KEYS[3], ARGV[9])
if earlier then return {'repeated', earlier} end
local head = redis.call('HMGET', KEYS[1], 'number', 'hash')
if (head[1] or '0') ~= ARGV[1] or (head[2] or '') ~= ARGV[2] then return {'moved'} end
redis.call('HSET', KEYS[2], 'number', ARGV[3], 'hash', ARGV[4], 'document', ARGV[5], 'facts', ARGV[6], 'diff', ARGV[7], 'created_at', ARGV[8])
redis.call('HSET', KEYS[1], 'number', ARGV[3], 'hash', ARGV[4])
redis.call('ZADD', KEYS[4], ARGV[3], ARGV[3])
redis.call('HSET', KEYS[3], ARGV[9], ARGV[10])
return {'committed'}`

/** KEYS: operations, operation ages. ARGV: operation id, operation, time. */
const concludeScript = `
local earlier = redis.call('HGET', KEYS[1], ARGV[1])
if earlier then return earlier end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
return ARGV[2]`

/** KEYS: head, revision. ARGV: number, old hash, document, new hash. */
const resealScript = `
if redis.call('HGET', KEYS[2], 'hash') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[2], 'document', ARGV[3], 'hash', ARGV[4])
if redis.call('HGET', KEYS[1], 'number') == ARGV[1] then redis.call('HSET', KEYS[1], 'hash', ARGV[4]) end
return 1`

const toRevisionRow = (fields: Readonly<Record<string, string>>): RevisionRow => ({
  number: Number(fields["number"]),
  hash: fields["hash"] ?? "",
  document: fields["document"] ?? "",
  facts: fields["facts"] ?? "",
  diff: fields["diff"] ?? "",
  created_at: Number(fields["created_at"])
})

const keysOf = (base: string) => ({
  headKey: `${base}head`,
  key: (number: number): string => `${base}revision:${number}`,
  operations: `${base}operations`,
  ages: `${base}operation-ages`,
  index: `${base}revisions`
})

const readSummary = (call: SourceCall, key: string, number: string) =>
  call("revisions.list", (client) => client.hmget(key, "hash", "facts", "created_at")).pipe(
    Effect.flatMap(([hash, facts, created_at]) =>
      parsed(
        "revisions.list",
        parseSummary(toRevisionRow({ number, hash: hash ?? "", facts: facts ?? "", created_at: created_at ?? "" }))
      )
    )
  )

const append = Effect.fnUntraced(function* (call: SourceCall, base: string, revision: NewRevision, onto: RevisionHead) {
  const { headKey, index, key, operations } = keysOf(base)
  const createdAt = yield* Clock.currentTimeMillis
  const row = toRow(revision, createdAt)
  const { number, operationId, rebasedFrom, requestHash } = revision
  const operation: ConfigOperationRecord = {
    operationId,
    requestHash,
    createdAt,
    result: { _tag: "Committed", revision: number, rebasedFrom }
  }
  const reply = yield* call("revisions.append", (client) =>
    client.eval(
      appendScript,
      4,
      headKey,
      key(number),
      operations,
      index,
      String(onto.number),
      onto.hash,
      String(row.number),
      row.hash,
      row.document,
      row.facts,
      row.diff,
      String(createdAt),
      operationId,
      JSON.stringify(operation)
    )
  )
  const [outcome, earlier = ""] = texts(reply)
  if (outcome === "committed") return { _tag: "Committed", revision: { ...revision, createdAt } } as const
  if (outcome === "moved") return { _tag: "Moved" } as const
  return { _tag: "Repeated", operation: yield* parsed("revisions.append", parseOperation(earlier)) } as const
})

export const makeRevisions = (
  call: SourceCall,
  base: string,
  { records, surplus }: OperationLimits = operationLimits
): RevisionStore["Service"] => {
  const { ages, headKey, index, key, operations } = keysOf(base)
  const trim = oncePer(surplus, pruneOperations(call, base, records, 0))
  const head = Effect.map(
    call("revisions.head", (client) => client.hmget(headKey, "number", "hash")),
    ([number, hash]) => (typeof number === "string" ? { number: Number(number), hash: hash ?? "" } : noRevision)
  )
  return RevisionStore.of({
    head,
    read: Effect.fnUntraced(function* (number) {
      const fields = yield* call("revisions.read", (client) => client.hgetall(key(number)))
      if (fields["facts"] === undefined) return undefined
      return yield* parsed("revisions.read", parseRevision(toRevisionRow(fields)))
    }),
    list: Effect.fnUntraced(function* ({ before, limit }) {
      const highest = before === undefined ? "+inf" : `(${before}`
      const numbers = yield* call("revisions.list", (client) =>
        client.zrevrangebyscore(index, highest, "-inf", "LIMIT", 0, limit + 1)
      )
      const items = yield* Effect.forEach(numbers.slice(0, limit), (number) =>
        readSummary(call, key(Number(number)), number)
      )
      return { items, next: numbers.length > limit ? items.at(-1)?.number : undefined }
    }),
    operation: Effect.fnUntraced(function* (id) {
      const text = yield* call("revisions.operation", (client) => client.hget(operations, id))
      return text === null ? undefined : yield* parsed("revisions.operation", parseOperation(text))
    }),
    append: (revision, onto) => append(call, base, revision, onto),
    conclude: Effect.fnUntraced(function* (operation) {
      const createdAt = yield* Clock.currentTimeMillis
      const text = JSON.stringify({ ...operation, createdAt })
      const reply = yield* call("revisions.conclude", (client) =>
        client.eval(concludeScript, 2, operations, ages, operation.operationId, text, createdAt)
      )
      yield* trim
      return yield* parsed("revisions.conclude", parseOperation(String(reply)))
    }),
    reseal: (number, hash, next) =>
      Effect.map(
        call("revisions.reseal", (client) =>
          client.eval(resealScript, 2, headKey, key(number), number, hash, next.document, next.hash)
        ),
        (reply) => reply === 1
      ),
    prune: (keep) =>
      Effect.flatMap(head, ({ number }) => pruneRevisions(call, base, number, keep)).pipe(
        Effect.tap(pruneOperations(call, base, records, keep.since))
      )
  })
}

const pruneRevisions = Effect.fnUntraced(function* (
  call: SourceCall,
  base: string,
  newest: number,
  { count, pinned, protect, since }: RevisionRetention
) {
  const { index, key, operations } = keysOf(base)
  const candidates = yield* call("revisions.prune", (client) =>
    client.zrangebyscore(index, "-inf", String(newest - Math.max(1, protect)))
  )
  let removed = 0
  for (const text of candidates) {
    const number = Number(text)
    if (pinned.has(number)) continue
    const [createdAt, facts] = yield* call("revisions.prune", (client) =>
      client.hmget(key(number), "created_at", "facts")
    )
    if (number > newest - count && Number(createdAt) >= since) continue
    const summary = parseSummary(toRevisionRow({ number: text, facts: facts ?? "" }))
    const operation = Result.isSuccess(summary) ? summary.success.operationId : ""
    yield* call("revisions.prune", (client) =>
      client.multi().zrem(index, text).del(key(number)).hdel(operations, operation).exec()
    )
    removed++
  }
  return removed
})

/** Removes results without a revision from before `since`, and the oldest ones above the maximum. */
const pruneOperations = Effect.fnUntraced(function* (call: SourceCall, base: string, records: number, since: number) {
  const { ages, operations } = keysOf(base)
  const old = yield* call("revisions.prune", (client) => client.zrangebyscore(ages, "-inf", `(${since}`))
  const excess = yield* call("revisions.prune", (client) => client.zrange(ages, 0, String(-1 - records)))
  for (const id of [...old, ...excess])
    yield* call("revisions.prune", (client) => client.multi().zrem(ages, id).hdel(operations, id).exec())
})
