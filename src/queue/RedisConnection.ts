/**
 * The connection of the queue to Redis. It reconnects for as long as the service lives; while Redis is away every call fails at
 * once as `unavailable`, and none is sent again behind the caller's back: a transition that was sent and not answered may have
 * happened, and the caller finds out by asking.
 */
import { Effect, Redacted, Schema } from "effect"
import type { Scope } from "effect"
import { Redis } from "ioredis"
import { QueueError } from "./Queue.ts"
import { loadScript } from "./RedisScripts.ts"
import type { ScriptName } from "./RedisScripts.ts"

/** A call that is not answered for this long failed: Redis hangs, or the network lost it. */
const answerWithin = 5000
const connectWithin = 5000
/** Between attempts to connect. */
const longestPause = 2000

/** Transitions in one message. Redis serves nobody else while it runs them, and with fewer it works while answers are read here. */
const maxBatch = 32

export interface RedisConnection {
  /** Runs a transition on the queue's keys. Those called in the same turn of the event loop go to Redis together. */
  readonly run: (script: ScriptName, args: ReadonlyArray<string | number>) => Effect.Effect<unknown, QueueError>
  readonly command: <A>(use: (redis: Redis) => Promise<A>) => Effect.Effect<A, QueueError>
}

/** `base` starts every key. Fails when Redis cannot be reached at first. */
export const connect = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  base: string
): Effect.fn.Return<RedisConnection, QueueError, Scope.Scope> {
  const place = placeOf(url)
  const script = loadScript()
  const redis = yield* Effect.acquireRelease(
    Effect.try({
      try: () =>
        new Redis(Redacted.value(url), {
          lazyConnect: true,
          connectionName: "aicr-queue",
          connectTimeout: connectWithin,
          commandTimeout: answerWithin,
          enableOfflineQueue: false,
          autoResendUnfulfilledCommands: false,
          maxRetriesPerRequest: 0,
          retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), longestPause)
        }),
      catch: () => unavailable(place, "storage.cache.redis.url_env does not hold a Redis URL (redis:// or rediss://)")
    }),
    (connection) =>
      Effect.sync(() => {
        connection.removeAllListeners("close")
        connection.disconnect()
      })
  )
  const log = Effect.runForkWith(yield* Effect.context<never>())
  let away = false
  let said = "no answer"
  // Without a listener an error event would end the process.
  redis.on("error", (error: Error) => {
    said = error.message
  })
  redis.on("close", () => {
    if (!away)
      log(Effect.logWarning(`Redis at ${place} is away (${said}); work is accepted and queued when it is back`))
    away = true
  })
  redis.on("ready", () => {
    if (away) log(Effect.logInfo(`Redis at ${place} is back`))
    away = false
  })
  const attempt = <A>(use: () => Promise<A>): Effect.Effect<A, QueueError> =>
    Effect.tryPromise({ try: use, catch: (cause) => unavailable(place, reasonOf(cause, said)) })

  yield* attempt(() => redis.connect())
  yield* warnOfLosses(yield* attempt(() => redis.info()), place)

  let waiting: Array<Call> = []
  const flush = () => {
    const calls = waiting
    waiting = []
    for (let at = 0; at < calls.length; at += maxBatch) send(calls.slice(at, at + maxBatch))
  }
  const send = (calls: ReadonlyArray<Call>) => {
    const args = calls.flatMap((call) => [call.name, call.args.length, ...call.args])
    redis
      .evalsha(script.sha, 1, base, ...args)
      .catch((error: unknown) =>
        error instanceof Error && error.message.startsWith("NOSCRIPT")
          ? redis.eval(script.source, 1, base, ...args)
          : Promise.reject(error)
      )
      .then(decodeAnswers)
      .then(
        (answers) => calls.forEach((call, index) => call.done(resultOf(answers[index], place))),
        (error: unknown) => calls.forEach((call) => call.done(Effect.fail(unavailable(place, reasonOf(error, said)))))
      )
  }
  return {
    command: (use) => attempt(() => use(redis)),
    run: (name, args) =>
      Effect.callback((done) => {
        waiting.push({ name, args, done })
        if (waiting.length === 1) setImmediate(flush)
      })
  }
})

interface Call {
  readonly name: ScriptName
  readonly args: ReadonlyArray<string | number>
  readonly done: (result: Effect.Effect<unknown, QueueError>) => void
}

type Answer = readonly [0 | 1, unknown]
const decodeAnswers = Schema.decodeUnknownSync(Schema.Array(Schema.Tuple([Schema.Literals([0, 1]), Schema.Unknown])))

const resultOf = (answer: Answer | undefined, place: string): Effect.Effect<unknown, QueueError> => {
  if (answer?.[0] === 1) return Effect.succeed(answer[1])
  return Effect.fail(unavailable(place, `a transition failed: ${String(answer?.[1] ?? "no answer")}`))
}

/** Host and port, never credentials. */
const placeOf = (url: Redacted.Redacted): string => {
  const text = String(Redacted.value(url))
  if (!URL.canParse(text)) return "(no URL)"
  const { hostname, port } = new URL(text)
  return `${hostname || "localhost"}:${port || "6379"}`
}

const unavailable = (place: string, why: string): QueueError =>
  new QueueError({ reason: "unavailable", message: `Queue on Redis at ${place}: ${why}` })

const remedies: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(NOAUTH|WRONGPASS)/, "Check user and password in the URL that storage.cache.redis.url_env names."],
  [
    /^NOPERM/,
    "The user needs EVALSHA, EVAL, INFO and the commands of hashes, sets and sorted sets on the keys of the queue."
  ],
  [/^OOM/, "Raise maxmemory."],
  [/^MISCONF/, "Redis cannot write to its disk; see its log."],
  [/^READONLY/, "It is a replica; connect to the primary."]
]

const reasonOf = (cause: unknown, said: string): string => {
  const message = cause instanceof Error ? cause.message : String(cause)
  // What ioredis says of a command that could not be sent does not say why.
  const text = /Stream isn't writeable|Connection is closed|max retries per request/.test(message) ? said : message
  const remedy = remedies.find(([pattern]) => pattern.test(text))?.[1]
  return `${text}. ${remedy ?? "It is tried again."}`
}

/** What would make Redis forget entries. The receipts stay, and queue again what is lost; but a running review may be repeated. */
const warnOfLosses = Effect.fnUntraced(function* (info: string, place: string) {
  const field = (name: string) => new RegExp(`^${name}:(.*)$`, "m").exec(info)?.[1]?.trim()
  if (field("aof_enabled") === "0") {
    yield* Effect.logWarning(
      `Redis at ${place} keeps no append-only file (appendonly yes): its restart may forget queued work`
    )
  }
  const policy = field("maxmemory_policy")
  if (policy !== undefined && policy !== "noeviction") {
    yield* Effect.logWarning(
      `Redis at ${place} may evict queued work (maxmemory-policy ${policy}); set it to noeviction`
    )
  }
})
