/** Sends calls of the queue's scripts to Redis in batches, and distributes their results. */
import { Effect } from "effect"
import type { Redis } from "ioredis"
import { pack, unpackBytes } from "./MessagePack.ts"
import type { Packable } from "./MessagePack.ts"
import type { QueueError } from "./Queue.ts"
import { loadScript } from "./RedisScripts.ts"
import type { ScriptName } from "./RedisScripts.ts"

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

export interface More {
  /** Binary arguments in addition to the packed ones. */
  readonly texts?: ReadonlyArray<string | Buffer>
  /**
   * Entry whose details (redis/shared.lua) are appended to the result of the transition. A plain command reads them after the script,
   * because the script would hash every byte of them.
   */
  readonly detailsOf?: string
}

export interface ScriptCall {
  readonly name: ScriptName
  readonly args: ReadonlyArray<Packable>
  readonly texts: ReadonlyArray<string | Buffer>
  readonly detailsOf: string | undefined
  readonly done: (result: Effect.Effect<unknown, QueueError>) => void
}

export interface RedisServer {
  readonly redis: Redis
  /** Prefix of every key. */
  readonly base: string
  /** Returns the error of a message that failed. */
  readonly failure: (error: unknown) => QueueError
  /** Returns the error of a call whose result is not as expected. */
  readonly unexpected: (why: string) => QueueError
  readonly onDamage: (damage: RedisDamage) => void
}

/** Damage that a message met, as in redis/damage.lua. */
export interface RedisDamage {
  /** Ids of quarantined entries. */
  readonly quarantined: ReadonlyArray<string>
  /** Rebuilt indexes, with the reasons. */
  readonly rebuilt: ReadonlyArray<string>
}

export class RedisCalls {
  readonly #server: RedisServer
  readonly #script = loadScript()
  readonly #waiting: Array<ScriptCall> = []
  #isFlushing = false
  #underWay = 0

  constructor(server: RedisServer) {
    this.#server = server
  }

  add(call: ScriptCall): void {
    this.#waiting.push(call)
    if (this.#underWay < maxUnderWay) this.#flushSoon()
  }

  #flushSoon(): void {
    if (this.#isFlushing || this.#waiting.length === 0) return
    this.#isFlushing = true
    setImmediate(() => this.#flush())
  }

  #flush(): void {
    this.#isFlushing = false
    while (this.#waiting.length > 0 && this.#underWay < maxUnderWay) {
      const calls = this.#waiting.splice(0, countWithin(this.#waiting, maxUnderWay - this.#underWay))
      this.#underWay += 1
      this.#send(calls)
    }
  }

  #send(calls: ReadonlyArray<ScriptCall>): void {
    this.#evaluate(calls).then(
      ([answers, details]) => this.#succeed(calls, answers, details),
      (error: unknown) => this.#fail(calls, error)
    )
  }

  async #evaluate(calls: ReadonlyArray<ScriptCall>): Promise<readonly [answers: unknown, details: Iterator<unknown>]> {
    const { base, redis } = this.#server
    const given = pack(calls.flatMap(({ name, args, texts }) => [name, texts.length, args.length, ...args]))
    const all = [given, ...calls.flatMap(({ texts }) => texts)]
    const ids = calls.flatMap(({ detailsOf = [] }) => detailsOf)
    const run = (command: string, text: string) =>
      Promise.all([
        redis.callBuffer(command, text, 1, base, ...all),
        ids.length === 0 ? [] : redis.hmgetBuffer(`${base}details`, ...ids)
      ])
    const [answers, found] = await run("EVALSHA", this.#script.sha).catch((error: unknown) =>
      startsWith(error, "NOSCRIPT") ? run("EVAL", this.#script.source) : Promise.reject(error)
    )
    return [Buffer.isBuffer(answers) ? unpackBytes(answers) : answers, found.values()]
  }

  #succeed(calls: ReadonlyArray<ScriptCall>, answers: unknown, details: Iterator<unknown>): void {
    this.#underWay -= 1
    const [quarantined, rebuilt] = Array.isArray(answers) ? answers.slice(calls.length).map(textsOf) : []
    if (quarantined !== undefined) this.#server.onDamage({ quarantined, rebuilt: rebuilt ?? [] })
    calls.forEach(({ detailsOf, done }, index) => {
      const result = resultOf(answers, index, this.#server.unexpected)
      if (detailsOf === undefined) return done(result)
      const { value } = details.next()
      done(Effect.map(result, (answer) => [answer, value]))
    })
    this.#flushSoon()
  }

  #fail(calls: ReadonlyArray<ScriptCall>, error: unknown): void {
    this.#underWay -= 1
    const isOfOneCall = startsWith(error, "TRANSITION")
    // No call of the batch was executed; the others must not fail because of one.
    if (calls.length > 1 && isOfOneCall) {
      this.#underWay += calls.length
      return calls.forEach((call) => this.#send([call]))
    }
    const failed = Effect.fail(this.#server.failure(error))
    // Waiting calls would fail with the same error, message after message.
    const all = isOfOneCall ? calls : [...calls, ...this.#waiting.splice(0)]
    all.forEach((call) => call.done(failed))
    this.#flushSoon()
  }
}

/**
 * Returns how many of the first calls go into a message if this number of messages may be sent: an even share, at most the maximum batch.
 */
const countWithin = (calls: ReadonlyArray<ScriptCall>, messages: number): number => {
  const part = Math.ceil(calls.length / messages)
  let size = 0
  for (const [index, { texts }] of calls.slice(0, part).entries()) {
    size += Math.max(1, texts.length)
    if (size > maxBatch && index > 0) return index
  }
  return part
}

const textsOf = (values: unknown): ReadonlyArray<string> => (Array.isArray(values) ? values.map(String) : [])

const startsWith = (error: unknown, word: string): boolean => error instanceof Error && error.message.startsWith(word)

/** Returns the result of one call: `answers` has 1 and the result, or 0 and the error, for each call. */
const resultOf = (
  answers: unknown,
  index: number,
  unexpected: RedisServer["unexpected"]
): Effect.Effect<unknown, QueueError> => {
  const result: unknown = Array.isArray(answers) ? answers[index] : undefined
  if (!Array.isArray(result) || result.length !== 2) return Effect.fail(unexpected("a transition returned nothing"))
  return result[0] === 1
    ? Effect.succeed(result[1])
    : Effect.fail(unexpected(`a transition failed: ${String(result[1])}`))
}
