/**
 * Implements `Cache` in Redis for all nodes. Redis expires old values. While it is disconnected every lookup misses: the first call that
 * notices takes at most `answerWithin` and logs a warning; then Redis is not called for a while.
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
  readonly leaveAlone?: number | undefined
}

export const layerRedis = (options: RedisCacheOptions): Layer.Layer<Cache> =>
  Layer.effect(
    Cache,
    Effect.gen(function* () {
      const { url, prefix = "aicr", ttlMillis, timeoutMillis: answerWithin = 400, leaveAlone = 5000 } = options
      const place = parsePlace(url)
      const opened = yield* Effect.orElseSucceed(open(url, failFast("aicr-cache", answerWithin)), () => undefined)
      if (opened === undefined || place === undefined || !isRedisUrl(url)) {
        yield* Effect.logWarning("invalid Redis URL in storage.cache.redis.url_env, nothing is cached", {
          expected: "redis://host:port or rediss://host:port"
        })
        return noCache
      }
      const { redis, lastError } = opened
      let away = false
      let askAgainAt = 0

      const failed = Effect.fnUntraced(function* (cause: unknown) {
        askAgainAt = (yield* Clock.currentTimeMillis) + leaveAlone
        if (away) return undefined
        away = true
        yield* Effect.logWarning("Redis cache unavailable, requests go to hosts and models", {
          server: place,
          error: explainFailure(cause, lastError())
        })
        return undefined
      })
      const attempt = <A>(use: (client: Redis) => Promise<A>): Effect.Effect<A | undefined> =>
        Effect.tryPromise({ try: () => use(redis), catch: (cause) => cause }).pipe(
          // The client's own timeout does not include the time before the command is sent.
          Effect.timeout(answerWithin),
          Effect.tap(() => {
            if (!away) return Effect.void
            away = false
            return Effect.logInfo("Redis cache available", { server: place })
          }),
          Effect.catch(failed)
        )
      const ask = <A>(use: (client: Redis) => Promise<A>): Effect.Effect<A | undefined> =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => (now < askAgainAt ? Effect.undefined : attempt(use)))

      yield* attempt((client) => client.connect())
      const base = `{${prefix}}:cache:`
      return Cache.of(
        over({
          read: (key) =>
            Effect.map(
              ask((client) => client.get(base + key)),
              (text) => text ?? undefined
            ),
          write: (key, text) => Effect.asVoid(ask((client) => client.set(base + key, text, "PX", ttlMillis)))
        })
      )
    })
  )
