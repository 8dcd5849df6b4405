/** Stores audit records and activations of nodes in Redis. */
import { Effect } from "effect"
import { ActivationStore } from "../../config/revisions/ActivationStore.ts"
import { AuditLog } from "../../config/revisions/AuditLog.ts"
import type { AuditLimits } from "../../config/revisions/AuditLog.ts"
import { parseActivation, parseAudit } from "../../config/revisions/StoredRecords.ts"
import { oncePer } from "../../database/sql/OncePer.ts"
import type { SourceCall } from "./RedisCall.ts"
import { parsed } from "./StoredText.ts"

/** Records that are removed together. */
const chunk = 1000

export const makeAudit = (
  call: SourceCall,
  base: string,
  { records: maximum, surplus }: AuditLimits
): AuditLog["Service"] => {
  const [ids, records, ages] = [`${base}audit-ids`, `${base}audit`, `${base}audit-ages`]
  const remove = (found: ReadonlyArray<string>) =>
    found.length === 0
      ? Effect.void
      : Effect.asVoid(
          call("audit.prune", (client) =>
            client
              .multi()
              .zrem(ids, ...found)
              .zrem(ages, ...found)
              .hdel(records, ...found)
              .exec()
          )
        )
  const removeOldest = Effect.gen(function* () {
    const count = yield* call("audit.prune", (client) => client.zcard(ids))
    for (let excess = count - maximum; excess > 0; excess -= chunk)
      yield* remove(yield* call("audit.prune", (client) => client.zrange(ids, 0, String(Math.min(chunk, excess) - 1))))
  })
  const trim = oncePer(surplus, removeOldest)
  return AuditLog.of({
    append: (record) =>
      Effect.andThen(
        call("audit.append", (client) =>
          client
            .multi()
            .hset(records, record.id, JSON.stringify(record))
            .zadd(ids, 0, record.id)
            .zadd(ages, record.at, record.id)
            .exec()
        ),
        trim
      ),
    list: Effect.fnUntraced(function* ({ before, limit }) {
      const highest = before === undefined ? "+" : `(${before}`
      const found = yield* call("audit.list", (client) =>
        client.zrevrangebylex(ids, highest, "-", "LIMIT", 0, limit + 1)
      )
      const shown = found.slice(0, limit)
      const stored = shown.length === 0 ? [] : yield* call("audit.list", (client) => client.hmget(records, ...shown))
      const items = yield* Effect.forEach(
        stored.flatMap((text) => (text === null ? [] : [text])),
        (text) => parsed("audit.list", parseAudit(text))
      )
      return { items, next: found.length > limit ? shown.at(-1) : undefined }
    }),
    prune: Effect.fnUntraced(function* (since) {
      const old = yield* call("audit.prune", (client) =>
        client.zrangebyscore(ages, "-inf", `(${since}`, "LIMIT", 0, 10_000)
      )
      yield* remove(old)
      yield* removeOldest
    })
  })
}

export const makeActivations = (call: SourceCall, base: string): ActivationStore["Service"] => {
  const key = `${base}activations`
  const all = Effect.flatMap(
    call("activations.list", (client) => client.hvals(key)),
    (stored) => Effect.forEach(stored, (text) => parsed("activations.list", parseActivation(text)))
  )
  return ActivationStore.of({
    report: (activation) =>
      Effect.asVoid(
        call("activations.report", (client) => client.hset(key, activation.node, JSON.stringify(activation)))
      ),
    list: (since) =>
      Effect.map(all, (found) =>
        found.filter(({ at }) => at >= since).toSorted((left, right) => (left.node < right.node ? -1 : 1))
      ),
    prune: (since) =>
      Effect.flatMap(all, (found) => {
        const old = found.filter(({ at }) => at < since).map(({ node }) => node)
        return old.length === 0
          ? Effect.void
          : Effect.asVoid(call("activations.prune", (client) => client.hdel(key, ...old)))
      })
  })
}
