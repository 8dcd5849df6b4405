/**
 * Connects the queue to Redis. It reconnects for as long as the service runs; while Redis is disconnected every call fails immediately as
 * `unavailable`, and none is repeated automatically: a transition without a response may have happened, and the caller reads to find out.
 */
import { Effect } from "effect"
import type { Redacted, Scope } from "effect"
import type { Redis } from "ioredis"
import { failsAtOnce, open, parsePlace, explainFailure } from "../database/RedisClient.ts"
import { pack, unpackBytes } from "./MessagePack.ts"
import type { Packable } from "./MessagePack.ts"
import { QueueError } from "./Queue.ts"
import { foreignLayout, mark } from "./RedisLayout.ts"
import { loadScript } from "./RedisScripts.ts"
import type { ScriptName } from "./RedisScripts.ts"

/** Milliseconds after which a call without a response fails: Redis hangs, or the network lost it. */
const answerWithin = 5000

/**
 * Maximum number of transitions per message; an admission counts by its texts, two per entry. Redis blocks other clients while it runs them
 * (two milliseconds), and smaller batches start the script more often. One batch of the ingress leaves room for other calls.
 */
const maxBatch = 160
/**
 * Maximum number of concurrent messages: while Redis works on one, the results of the other are processed here, and their follow-up calls
 * are collected.
 */
const maxUnderWay = 2

export interface RedisConnection {
  /**
   * Runs a transition on the queue's keys. Calls of the same event loop iteration, or during the maximum number of concurrent messages, are
   * sent to Redis together.
   */
  readonly run: (script: ScriptName, args: ReadonlyArray<Packable>, more?: More) => Effect.Effect<unknown, QueueError>
  readonly command: <A>(use: (redis: Redis) => Promise<A>) => Effect.Effect<A, QueueError>
}

export interface More {
  /** Binary arguments in addition to the packed ones. */
  readonly texts?: ReadonlyArray<string | Buffer>
  /**
   * Entry whose details (redis/shared.lua) are appended to the result of the transition. A plain command reads them after the script,
   * because the script would hash every byte of them.
   */
  readonly detailsOf?: string
}

/** Connects. `base` is the prefix of every key. Fails if Redis is unreachable at first. */
export const connect = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  base: string
): Effect.fn.Return<RedisConnection, QueueError, Scope.Scope> {
  const place = parsePlace(url) ?? "(no URL)"
  const script = loadScript()
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
  const attempt = <A>(use: () => Promise<A>): Effect.Effect<A, QueueError> =>
    Effect.tryPromise({ try: use, catch: (cause) => unavailable(place, remedied(explainFailure(cause, said()))) })

  yield* attempt(() => redis.connect())
  const foreign = yield* attempt(() => foreignLayout(redis, base))
  if (foreign !== undefined) return yield* unavailable(place, foreign)
  yield* warnOfLosses(yield* attempt(() => redis.info()), place)

  const details = `${base}details`
  let waiting: Array<Call> = []
  let isFlushing = false
  let underWay = 0
  const flush = () => {
    isFlushing = false
    while (waiting.length > 0 && underWay < maxUnderWay) {
      const calls = waiting.splice(0, countWithin(waiting, maxUnderWay - underWay))
      underWay += 1
      send(calls)
    }
  }
  const flushSoon = () => {
    if (isFlushing || waiting.length === 0) return
    isFlushing = true
    setImmediate(flush)
  }
  const evaluate = async (
    calls: ReadonlyArray<Call>
  ): Promise<readonly [answers: unknown, details: Iterator<unknown>]> => {
    const given = pack(calls.flatMap(({ name, args, texts }) => [name, texts.length, args.length, ...args]))
    const all = [given, ...calls.flatMap(({ texts }) => texts)]
    const ids = calls.flatMap(({ detailsOf = [] }) => detailsOf)
    const run = (command: string, text: string) =>
      Promise.all([
        redis.callBuffer(command, text, 1, base, ...all),
        ids.length === 0 ? [] : redis.hmgetBuffer(details, ...ids)
      ])
    const [answers, found] = await run("EVALSHA", script.sha).catch((error: unknown) =>
      startsWith(error, "NOSCRIPT") ? run("EVAL", script.source) : Promise.reject(error)
    )
    return [Buffer.isBuffer(answers) ? unpackBytes(answers) : answers, found.values()]
  }
  const send = (calls: ReadonlyArray<Call>) => {
    evaluate(calls).then(
      ([answers, found]) => {
        underWay -= 1
        const quarantined: unknown = Array.isArray(answers) ? answers[calls.length] : undefined
        if (Array.isArray(quarantined)) {
          const entry_ids = quarantined.map(String)
          log(
            Effect.logError("queue entries quarantined: Redis holds records that cannot be read").pipe(
              Effect.annotateLogs({ entry_ids })
            )
          )
        }
        calls.forEach(({ detailsOf, done }, index) => {
          const result = resultOf(answers, index, place)
          if (detailsOf === undefined) return done(result)
          const { value } = found.next()
          done(Effect.map(result, (answer) => [answer, value]))
        })
        flushSoon()
      },
      (error: unknown) => {
        underWay -= 1
        // No call of the batch was executed; the others must not fail because of one.
        if (calls.length > 1 && startsWith(error, "TRANSITION")) {
          underWay += calls.length
          return calls.forEach((call) => send([call]))
        }
        const failed = Effect.fail(unavailable(place, remedied(explainFailure(error, said()))))
        // Waiting calls would fail with the same error, message after message.
        const all = startsWith(error, "TRANSITION") ? calls : [...calls, ...waiting.splice(0)]
        all.forEach((call) => call.done(failed))
        flushSoon()
      }
    )
  }
  return {
    command: (use) => attempt(() => use(redis)),
    run: (name, args, { texts = [], detailsOf } = {}) =>
      Effect.callback((done) => {
        waiting.push({ name, args, texts, detailsOf, done })
        if (underWay < maxUnderWay) flushSoon()
      })
  }
})

interface Call {
  readonly name: ScriptName
  readonly args: ReadonlyArray<Packable>
  readonly texts: ReadonlyArray<string | Buffer>
  readonly detailsOf: string | undefined
  readonly done: (result: Effect.Effect<unknown, QueueError>) => void
}

/**
 * Returns how many of the first calls go into a message if this number of messages may be sent: an even share, at most the maximum batch.
 */
const countWithin = (calls: ReadonlyArray<Call>, messages: number): number => {
  const part = Math.ceil(calls.length / messages)
  let size = 0
  for (const [index, { texts }] of calls.slice(0, part).entries()) {
    size += Math.max(1, texts.length)
    if (size > maxBatch && index > 0) return index
  }
  return part
}

const startsWith = (error: unknown, word: string): boolean => error instanceof Error && error.message.startsWith(word)

/** Returns the result of one call: `answers` has 1 and the result, or 0 and the error, for each call. */
const resultOf = (answers: unknown, index: number, place: string): Effect.Effect<unknown, QueueError> => {
  const result: unknown = Array.isArray(answers) ? answers[index] : undefined
  if (!Array.isArray(result) || result.length !== 2)
    return Effect.fail(unavailable(place, "a transition returned nothing"))
  return result[0] === 1
    ? Effect.succeed(result[1])
    : Effect.fail(unavailable(place, `a transition failed: ${String(result[1])}`))
}

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
