/**
 * `Cache` in Redis, for all nodes together. Redis ends what is too old. While it is away every question counts as never asked: the
 * first call that finds out costs `answerWithin` at most and gives a warning, then it is left alone for a moment at a time.
 */
import { Clock, Effect, Layer, Redacted } from "effect"
import type { Redis } from "ioredis"
import { Cache, noCache, over } from "./Cache.ts"
import { failsAtOnce, isRedisUrl, open, placeOf, reasonOf } from "../database/RedisClient.ts"

export interface RedisCacheOptions {
  readonly url: Redacted.Redacted
  /** Of the keys; services that share a Redis have one each. `aicr` when left out. */
  readonly prefix?: string | undefined
  readonly ttlMillis: number
  /** Milliseconds that a call, or the start, waits at most. */
  readonly answerWithin?: number | undefined
  /** Milliseconds during which a Redis that did not answer is not asked. */
  readonly leaveAlone?: number | undefined
}

export const layerRedis = (options: RedisCacheOptions): Layer.Layer<Cache> =>
  Layer.effect(
    Cache,
    Effect.gen(function* () {
      const { url, prefix = "aicr", ttlMillis, answerWithin = 400, leaveAlone = 5000 } = options
      const place = placeOf(url)
      const opened = yield* Effect.orElseSucceed(open(url, failsAtOnce("aicr-cache", answerWithin)), () => undefined)
      if (opened === undefined || place === undefined || !isRedisUrl(url)) {
        yield* Effect.logWarning("invalid Redis URL in storage.cache.redis.url_env, nothing is cached", {
          expected: "redis://host:port or rediss://host:port"
        })
        return noCache
      }
      const { redis, said } = opened
      let away = false
      let askAgainAt = 0

      const failed = Effect.fnUntraced(function* (cause: unknown) {
        askAgainAt = (yield* Clock.currentTimeMillis) + leaveAlone
        if (away) return undefined
        away = true
        yield* Effect.logWarning("Redis cache unavailable, requests go to hosts and models", {
          server: place,
          error: reasonOf(cause, said())
        })
        return undefined
      })
      const attempt = <A>(use: (client: Redis) => Promise<A>): Effect.Effect<A | undefined> =>
        Effect.tryPromise({ try: () => use(redis), catch: (cause) => cause }).pipe(
          // The client's own time limit does not count what stands before the command is sent.
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
