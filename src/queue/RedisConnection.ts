/**
 * Connects the queue to Redis. It reconnects for as long as the service runs; while Redis is disconnected every call fails immediately as
 * `unavailable`, and none is repeated automatically: a transition without a response may have happened, and the caller reads to find out.
 */
import { Effect } from "effect"
import type { Redacted, Scope } from "effect"
import type { Redis } from "ioredis"
import { failsAtOnce, open, parsePlace, explainFailure } from "../database/RedisClient.ts"
import type { Packable } from "./MessagePack.ts"
import { QueueError } from "./Queue.ts"
import { RedisCalls } from "./RedisCalls.ts"
import type { RedisDamage } from "./RedisCalls.ts"
import type { More } from "./RedisCalls.ts"
import { foreignLayout, mark } from "./RedisLayout.ts"
import type { ScriptName } from "./RedisScripts.ts"

/** Milliseconds after which a call without a response fails: Redis hangs, or the network lost it. */
const answerWithin = 5000

export interface RedisConnection {
  /**
   * Runs a transition on the queue's keys. Calls of the same event loop iteration, or during the maximum number of concurrent messages, are
   * sent to Redis together.
   */
  readonly run: (script: ScriptName, args: ReadonlyArray<Packable>, more?: More) => Effect.Effect<unknown, QueueError>
  readonly command: <A>(use: (redis: Redis) => Promise<A>) => Effect.Effect<A, QueueError>
}

/** Connects. `base` is the prefix of every key. Fails if Redis is unreachable at first. */
export const connect = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  base: string
): Effect.fn.Return<RedisConnection, QueueError, Scope.Scope> {
  const place = parsePlace(url) ?? "(no URL)"
  const { redis, said } = yield* Effect.mapError(open(url, failsAtOnce("aicr-queue", answerWithin)), () =>
    unavailable(place, "storage.cache.redis.url_env does not hold a Redis URL (redis:// or rediss://)")
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => redis.removeAllListeners("close")))
  const log = Effect.runForkWith(yield* Effect.context<never>())
  let away = false
  redis.on("close", () => {
    if (!away)
      log(
        Effect.logWarning("Redis disconnected, accepted work is queued when it is available", {
          server: place,
          error: said()
        })
      )
    away = true
  })
  redis.on("ready", () => {
    if (!away) return
    away = false
    log(Effect.logInfo("Redis reconnected", { server: place }))
    mark(redis, base).catch(() => undefined)
  })
  const failure = (cause: unknown) => unavailable(place, remedied(explainFailure(cause, said())))
  const attempt = <A>(use: () => Promise<A>): Effect.Effect<A, QueueError> =>
    Effect.tryPromise({ try: use, catch: failure })

  yield* attempt(() => redis.connect())
  const foreign = yield* attempt(() => foreignLayout(redis, base))
  if (foreign !== undefined) return yield* unavailable(place, foreign)
  yield* warnOfLosses(yield* attempt(() => redis.info()), place)

  const calls = new RedisCalls({
    redis,
    base,
    failure,
    unexpected: (why) => unavailable(place, why),
    onDamage: (damage) => log(logDamage(damage))
  })
  return {
    command: (use) => attempt(() => use(redis)),
    run: (name, args, { texts = [], detailsOf } = {}) =>
      Effect.callback((done) => calls.add({ name, args, texts, detailsOf, done }))
  }
})

/** Logs records that the service cannot have written. */
const logDamage = ({ quarantined, rebuilt }: RedisDamage): Effect.Effect<void> =>
  Effect.all(
    [
      quarantined.length > 0
        ? Effect.logError("queue entries quarantined: Redis holds records that cannot be read", {
            entry_ids: quarantined
          })
        : Effect.void,
      rebuilt.length > 0
        ? Effect.logError("queue indexes rebuilt: Redis held records that cannot be read", { reasons: rebuilt })
        : Effect.void
    ],
    { discard: true }
  )

const unavailable = (place: string, why: string): QueueError =>
  new QueueError({ reason: "unavailable", message: `Queue on Redis at ${place}: ${why}` })

const remedies: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(NOAUTH|WRONGPASS)/, "Check user and password in the URL that storage.cache.redis.url_env names."],
  [
    /^NOPERM/,
    "The user needs EVALSHA, EVAL, INFO and the commands of strings, hashes, lists and sorted sets on the keys of the queue."
  ],
  [/^OOM/, "Raise maxmemory."],
  [/^MISCONF/, "Redis cannot write to its disk; see its log."],
  [/^READONLY/, "It is a replica; connect to the primary."]
]

const remedied = (reason: string): string => {
  const remedy = remedies.find(([pattern]) => pattern.test(reason))?.[1]
  return `${reason}. ${remedy ?? "It is tried again."}`
}

/**
 * Warns about settings with which Redis may lose entries. Receipts remain and requeue what is lost, but a running review may be repeated.
 */
const warnOfLosses = Effect.fnUntraced(function* (info: string, place: string) {
  const field = (name: string) => new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1]?.trim()
  if (field("aof_enabled") === "0") {
    yield* Effect.logWarning("Redis has no append-only file, a restart may lose queued work; set appendonly yes", {
      server: place
    })
  }
  const policy = field("maxmemory_policy")
  if (policy !== undefined && policy !== "noeviction") {
    yield* Effect.logWarning("Redis may evict queued work; set maxmemory-policy to noeviction", {
      server: place,
      policy
    })
  }
})
