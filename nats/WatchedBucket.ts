/**
 * Reads a bucket repeatedly at low cost. Which keys exist is read from the stream's leader each time, in one request. A value is read once,
 * and again after a message about its key with another value. Such a message only shows that the value may have changed: the stream may
 * have refused it.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import { bucketSubject } from "./NatsStreams.ts"
import type { StreamPlan } from "./NatsStreams.ts"
import type { NatsBucket } from "./NatsBucket.ts"
import { NatsConnection } from "./NatsConnection.ts"
import type { NatsError } from "./NatsError.ts"

interface KnownValue {
  /** Undefined: the key was deleted. */
  readonly value: string | undefined
}

/** Returns the read of the keys that fit the filter, with their values. */
export const watchValues = Effect.fnUntraced(function* (
  bucket: Pick<NatsBucket, "last" | "subjects">,
  plan: StreamPlan,
  filter: string
): Effect.fn.Return<
  Effect.Effect<ReadonlyArray<{ readonly key: string; readonly value: string }>, NatsError>,
  never,
  NatsConnection | Scope.Scope
> {
  const { onStatus, prefix, raw } = yield* NatsConnection
  const base = bucketSubject(prefix, plan)
  const known = new Map<string, KnownValue>()
  /** Keys about which a message arrived since the last read began. */
  const changed = new Set<string>()
  const forget = (key: string): void => {
    known.delete(key)
    changed.add(key)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      raw.subscribe(`${base}.${filter}`, {
        callback: (_, message) => {
          const key = message.subject.slice(base.length + 1)
          const isSame = message.headers?.has("KV-Operation") !== true && known.get(key)?.value === message.string()
          if (!isSame) forget(key)
        }
      })
    ),
    (subscription) => Effect.sync(() => subscription.unsubscribe())
  )
  // Messages may be missing that were sent while the connection was interrupted.
  yield* onStatus(() => {
    for (const key of known.keys()) forget(key)
  })
  const read = Effect.fnUntraced(function* (key: string) {
    const found = yield* bucket.last(key)
    if (!changed.has(key)) known.set(key, { value: found?.value })
    return found?.value
  })
  return Effect.gen(function* () {
    changed.clear()
    const keys = yield* bucket.subjects(filter)
    const values = yield* Effect.forEach(
      keys,
      (key) => {
        const existing = known.get(key)
        return existing === undefined ? read(key) : Effect.succeed(existing.value)
      },
      { concurrency: "unbounded" }
    )
    const existing = new Set(keys)
    for (const key of known.keys()) if (!existing.has(key)) known.delete(key)
    return keys.flatMap((key, at) => {
      const value = values[at]
      return value === undefined ? [] : [{ key, value }]
    })
  })
})
