/**
 * A client of Redis for the queue, and what operators learn of it: when Redis disconnects and is available again, what to change when it
 * refuses a call, and which of its settings would lose work.
 */
import { Effect, Schedule } from "effect"
import type { Redacted, Scope } from "effect"
import type { Redis } from "ioredis"
import { explainFailure, failFast, open, parsePlace } from "../../database/RedisClient.ts"
import { QueueError } from "../Queue.ts"
import type { Reason } from "../../domain/Reason.ts"
import { withoutPeriod } from "../../domain/Text.ts"

/** A call without a response for this long failed: Redis hangs, or the network lost it. */
const timeoutMillis = 5000
const betweenAttempts = "500 millis"

export interface RedisLink {
  readonly redis: Redis
  /** Host and port. */
  readonly place: string
  readonly attempt: <A>(use: () => Promise<A>) => Effect.Effect<A, QueueError>
  /** Returns the error of a failed call, with the next step for an operator. */
  readonly failure: (cause: unknown) => QueueError
  readonly log: (entry: Effect.Effect<void>) => void
}

/** Notifications of a start that waits for Redis. */
export interface RedisWait {
  readonly failed: (message: string) => Effect.Effect<void>
  readonly connected: Effect.Effect<void>
}

/**
 * Fails when Redis cannot be reached at first; with `wait` it waits, except for what only another configuration or server ends. `reconnected`
 * runs each time Redis is available again.
 */
export const openRedis = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  name: string,
  reconnected: (redis: Redis) => Promise<unknown>,
  wait?: RedisWait
): Effect.fn.Return<RedisLink, QueueError, Scope.Scope> {
  const place = parsePlace(url) ?? "(no URL)"
  const { redis, lastError } = yield* Effect.mapError(open(url, failFast(name, timeoutMillis)), () =>
    unavailable(place, { _tag: "RedisUrlExpected" })
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => redis.removeAllListeners("close")))
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const log = (entry: Effect.Effect<void>) => void fork(entry)
  const failure = (cause: unknown): QueueError => {
    const reason = explainFailure(cause, lastError())
    return new QueueError({
      reason: "unavailable",
      why: { _tag: "RedisQueueFails", server: place, why: remedied(reason) },
      ...(isDisconnected(cause, reason) ? { disconnected: "redis" } : {})
    })
  }
  const attempt = <A>(use: () => Promise<A>): Effect.Effect<A, QueueError> =>
    Effect.tryPromise({ try: use, catch: failure })

  const first = Effect.gen(function* () {
    // After a failed attempt the client connects by itself.
    if (redis.status === "wait" || redis.status === "end") yield* attempt(() => redis.connect())
    return yield* attempt(() => redis.info())
  })
  const info = yield* wait === undefined
    ? first
    : first.pipe(
        Effect.tapError(({ message }) => (isRefused(lastError(), message) ? Effect.void : wait.failed(message))),
        Effect.retry({
          while: ({ message }) => !isRefused(lastError(), message),
          schedule: Schedule.spaced(betweenAttempts)
        }),
        Effect.tap(() => wait.connected)
      )
  const tooOld = explainVersion(info)
  if (tooOld !== undefined) return yield* unavailable(place, tooOld)
  yield* warnOfLosses(info, place)

  let isDown = false
  redis.on("close", () => {
    if (!isDown)
      log(
        Effect.logWarning("Redis disconnected, accepted work is queued when it is available", {
          server: place,
          error: lastError()
        })
      )
    isDown = true
  })
  redis.on("ready", () => {
    if (!isDown) return
    isDown = false
    log(Effect.logInfo("Redis reconnected", { server: place }))
    reconnected(redis).catch(() => undefined)
  })
  return { redis, place, attempt, failure, log }
})

export const unavailable = (server: string, why: Reason): QueueError =>
  new QueueError({ reason: "unavailable", why: { _tag: "RedisQueueFails", server, why } })

const remedies: ReadonlyArray<readonly [RegExp, Reason]> = [
  [/^(NOAUTH|WRONGPASS)/, { _tag: "RedisUserNext" }],
  [/^NOPERM/, { _tag: "RedisCommandsNext" }],
  [/^OOM/, { _tag: "RedisMemoryNext" }],
  [/^MISCONF/, { _tag: "RedisDiskNext" }],
  [/^READONLY/, { _tag: "RedisReplicaNext" }]
]

/** Returns whether the server refuses the user. */
const isRefused = (...messages: ReadonlyArray<string>): boolean =>
  messages.some((message) => /\b(NOAUTH|WRONGPASS|NOPERM)\b/.test(message))

/** Returns whether a call failed because Redis is disconnected or still loads its data. Other errors that it replies with remain. */
const isDisconnected = (cause: unknown, reason: string): boolean =>
  !isRefused(reason) &&
  (!(cause instanceof Error && cause.name === "ReplyError") || /^(LOADING|MASTERDOWN)\b/.test(reason))

const remedied = (reason: string): Reason => ({
  _tag: "RedisRefuses",
  why: withoutPeriod(reason),
  next: remedies.find(([pattern]) => pattern.test(reason))?.[1] ?? { _tag: "RedisRetryNext" }
})

const fieldOf = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1]?.trim()

/** Returns why the server of this INFO is too old for the queue, or undefined if it is not. */
export const explainVersion = (info: string): Reason | undefined => {
  const version = fieldOf(info, "redis_version") ?? ""
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major > 6 || (major === 6 && minor >= 2) ? undefined : { _tag: "RedisTooOld", version }
}

/**
 * Warns about settings with which Redis may lose entries. Receipts remain and requeue what is lost, but a running review may be repeated.
 */
const warnOfLosses = Effect.fnUntraced(function* (info: string, place: string) {
  if (fieldOf(info, "aof_enabled") === "0") {
    yield* Effect.logWarning("Redis has no append-only file, a restart may lose queued work; set appendonly yes", {
      server: place
    })
  }
  const policy = fieldOf(info, "maxmemory_policy")
  if (policy !== undefined && policy !== "noeviction") {
    yield* Effect.logWarning("Redis may evict queued work; set maxmemory-policy to noeviction", {
      server: place,
      policy
    })
  }
})
