/** Commands of the stores of the database source to Redis. */
import { Effect } from "effect"
import type { Redacted, Scope } from "effect"
import type { Redis } from "ioredis"
import { SourceUnavailable } from "../../config/revisions/RevisionStore.ts"
import { explainFailure, failFast, isRedisUrl, open, parsePlace } from "../../database/RedisClient.ts"
import { StoreError } from "../../database/StoreError.ts"

const timeoutMillis = 2000

/** Sends a command; failures become the error of the source. */
export type SourceCall = <A>(
  operation: string,
  use: (client: Redis) => Promise<A>
) => Effect.Effect<A, SourceUnavailable>

export const connect = Effect.fnUntraced(function* (
  url: Redacted.Redacted
): Effect.fn.Return<SourceCall, StoreError, Scope.Scope> {
  const place = parsePlace(url)
  const opened = yield* Effect.orElseSucceed(open(url, failFast("aicr-config", timeoutMillis)), () => undefined)
  if (opened === undefined || place === undefined || !isRedisUrl(url))
    return yield* new StoreError({
      reason: "unavailable",
      operation: "open",
      why: { _tag: "RedisUrlInvalid" }
    })
  const { lastError, redis } = opened
  const call: SourceCall = (operation, use) =>
    Effect.tryPromise({
      try: () => use(redis),
      catch: (cause) =>
        new SourceUnavailable({
          operation,
          why: { _tag: "RedisFails", server: place, why: explainFailure(cause, lastError()) }
        })
    })
  yield* Effect.ignore(call("connect", (client) => client.connect()))
  return call
})

/** Returns the elements of a script's reply. */
export const texts = (reply: unknown): ReadonlyArray<string> =>
  Array.isArray(reply) ? reply.map((item: unknown) => (typeof item === "string" ? item : "")) : []
