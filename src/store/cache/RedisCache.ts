/**
 * Implements `Cache` in Redis for all nodes. Redis expires old values. While it is disconnected every lookup misses: the first call that
 * notices takes at most `responseMillis` and logs a warning; then Redis is not called for a while.
 */
import { Clock, Effect, Layer, Redacted } from "effect"
import type { Redis } from "ioredis"
import { Cache, noCache, over } from "../Cache.ts"
import { failFast, isRedisUrl, open, parsePlace, explainFailure } from "../../database/RedisClient.ts"

export interface RedisCacheOptions {
  readonly url: Redacted.Redacted
  /** Prefix of the keys; services that share a Redis have one each. `aicr` by default. */
  readonly prefix?: string | undefined
  readonly ttlMillis: number
  /** Timeout in milliseconds of a call, and of the first connection. */
  readonly timeoutMillis?: number | undefined
  /** Milliseconds without calls after Redis did not respond. */
  readonly retryAfter?: number | undefined
}

export const layerRedis = (options: RedisCacheOptions): Layer.Layer<Cache> =>
  Layer.effect(
    Cache,
    Effect.gen(function* () {
      const { url, prefix = "aicr", ttlMillis, timeoutMillis: responseMillis = 400, retryAfter = 5000 } = options
      const place = parsePlace(url)
      const opened = yield* Effect.orElseSucceed(open(url, failFast("aicr-cache", responseMillis)), () => undefined)
      if (opened === undefined || place === undefined || !isRedisUrl(url)) {
        yield* Effect.logWarning("invalid Redis URL in storage.cache.redis.url_env, nothing is cached", {
          expected: "redis://host:port or rediss://host:port"
        })
        return noCache
      }
      const { redis, lastError } = opened
      let isDisconnected = false
      let retryAt = 0

      const failed = Effect.fnUntraced(function* (cause: unknown) {
        retryAt = (yield* Clock.currentTimeMillis) + retryAfter
        if (isDisconnected) return undefined
        isDisconnected = true
        yield* Effect.logWarning("Redis cache unavailable, requests go to hosts and models", {
          server: place,
          error: explainFailure(cause, lastError())
        })
        return undefined
      })
      const attempt = <A>(use: (client: Redis) => Promise<A>): Effect.Effect<A | undefined> =>
        Effect.tryPromise({ try: () => use(redis), catch: (cause) => cause }).pipe(
          // The client's own timeout does not include the time before the command is sent.
          Effect.timeout(responseMillis),
          Effect.tap(() => {
            if (!isDisconnected) return Effect.void
            isDisconnected = false
            return Effect.logInfo("Redis cache available", { server: place })
          }),
          Effect.catch(failed)
        )
      const call = <A>(use: (client: Redis) => Promise<A>): Effect.Effect<A | undefined> =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => (now < retryAt ? Effect.undefined : attempt(use)))

      yield* attempt((client) => client.connect())
      const base = `{${prefix}}:cache:`
      return Cache.of(
        over({
          read: (key) =>
            Effect.map(
              call((client) => client.get(base + key)),
              (text) => text ?? undefined
            ),
          write: (key, text) => Effect.asVoid(call((client) => client.set(base + key, text, "PX", ttlMillis)))
        })
      )
    })
  )
