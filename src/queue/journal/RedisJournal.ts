/**
 * The journal in Redis. Below one prefix, with a hash tag, so that all of it is in one slot of a cluster:
 *
 *     layout    STRING  version of this list (RedisLayout.ts)
 *     log       STREAM  messages, `<sequence>-<id>`: after (the position before it), scope, rows
 *     last      STRING  position of the last message
 *     details   HASH    entry id -> the rest of its change
 *     snapshot  STRING  `<sequence>-<id> <list>` of the newest snapshot
 *     pages:<n> LIST    pages of a snapshot
 *     writer    STRING  who writes a snapshot
 *
 * Needs Redis 6.2 or newer, which can trim a stream by id. The append-only file decides what survives a restart of Redis. The connection
 * is restored for as long as the service runs; while Redis is disconnected every call fails immediately, and none is repeated.
 */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { Effect, Fiber, Option } from "effect"
import type { Redacted, Scope } from "effect"
import { newId } from "../../domain/Ids.ts"
import { readMessage } from "../../database/RedisClient.ts"
import { findOtherLayout, mark } from "./RedisLayout.ts"
import { openRedis, unavailable } from "./RedisLink.ts"
import type { RedisLink, RedisWait } from "./RedisLink.ts"
import type { QueueError } from "../Queue.ts"
import { JournalError } from "./Journal.ts"
import type { AppendResult, Journal, JournalChanges, JournalRecord, JournalPosition } from "./Journal.ts"
import { withoutPeriod } from "../../domain/Text.ts"

/** Messages of one read. */
const atOnce = 200
/** Fields of one command. */
const fieldsAtOnce = 2000
/** Pages that are fetched while the ones before them are taken. */
const pagesAhead = 4
/** A node that began to read a snapshot has this long to finish, and one that writes a snapshot this long for each page. */
const keptSeconds = 600
const pageSeconds = 60

interface Script {
  readonly source: string
  readonly sha: string
}

const scriptOf = (source: string): Script => ({ source, sha: createHash("sha1").update(source).digest("hex") })

/**
 * Returns the last position. XINFO copies the first and the last message, which takes about 50 us, and 1 ms with messages of 50 KB. A log
 * that does not exist begins behind the newest snapshot.
 */
const lastOf = `
local function lastOf(log, snapshot, last)
  local position = redis.call('EXISTS', log) == 1 and redis.call('GET', last)
  if position then return position end
  local info = redis.pcall('XINFO', 'STREAM', log)
  for place = 1, #info, 2 do
    if info[place] == 'last-generated-id' then return info[place + 1] end
  end
  return string.match(redis.call('GET', snapshot) or '', '^%d+%-%d+') or '0-0'
end
`
const appendScript = (): Script => scriptOf(lastOf + readFileSync(new URL("append.lua", import.meta.url), "utf8"))
/** KEYS: log, snapshot, last. */
const lastScript = scriptOf(`${lastOf}return lastOf(KEYS[1], KEYS[2], KEYS[3])`)

/**
 * A snapshot counts unless a newer one does. KEYS: snapshot, log, pages, pages of the old one. ARGV: sequence, value, seconds. Removes the
 * messages that the old one has.
 */
const commitSnapshot = scriptOf(`
local old = tonumber(string.match(redis.call('GET', KEYS[1]) or '', '^(%d+)%-%d+ ') or 0)
if old >= tonumber(ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('PERSIST', KEYS[3])
redis.call('XTRIM', KEYS[2], 'MINID', string.format('%d-0', old + 1))
if KEYS[4] then redis.call('EXPIRE', KEYS[4], ARGV[3]) end
return 1`)

/** Fails when Redis cannot be reached at first, unless it `wait`s, or holds a queue of another layout. `prefix` starts every key. */
export const makeRedisJournal = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  prefix = "aicr",
  wait?: RedisWait
): Effect.fn.Return<Journal, QueueError, Scope.Scope> {
  const base = `{${prefix}}:queue:`
  const { attempt, place, redis } = yield* openRedis(url, "aicr-queue", (client) => mark(client, base), wait)
  const other = yield* attempt(() => findOtherLayout(redis, base))
  if (other !== undefined) return yield* unavailable(place, other)
  const call = <A>(use: () => Promise<A>): Effect.Effect<A, JournalError> =>
    Effect.mapError(
      attempt(use),
      ({ disconnected, why }) =>
        new JournalError({ reason: "unavailable", why, ...(disconnected === undefined ? {} : { disconnected }) })
    )
  const evaluate = ({ sha, source }: Script, keys: ReadonlyArray<string>, args: ReadonlyArray<string>) =>
    redis
      .evalsha(sha, keys.length, ...keys, ...args)
      .catch((error: unknown) =>
        readMessage(error).startsWith("NOSCRIPT")
          ? redis.eval(source, keys.length, ...keys, ...args)
          : Promise.reject(error)
      )
  const append = appendScript()
  const keys = ["log", "snapshot", "last", "details"].map((name) => base + name)
  const readDetails = async (entryIds: ReadonlyArray<string>) => {
    const chunks = Array.from({ length: Math.ceil(entryIds.length / fieldsAtOnce) }, (_, chunk) =>
      entryIds.slice(chunk * fieldsAtOnce, (chunk + 1) * fieldsAtOnce)
    )
    const texts = await Promise.all(chunks.map((some) => redis.hmget(`${base}details`, ...some)))
    return texts.flat().map((text) => text ?? undefined)
  }

  return {
    append: (id, changes, position) =>
      Effect.flatMap(
        call(() => evaluate(append, keys, appendArgs(id, changes, position))),
        (reply) => read(() => toAppended(reply, id))
      ),
    last: Effect.flatMap(
      call(() => evaluate(lastScript, keys.slice(0, 3), [])),
      (reply) => read(() => toPosition(reply))
    ),
    follow: (sequence) =>
      Effect.flatMap(
        call(() => redis.xrange(`${base}log`, `${sequence + 1}-0`, "+", "COUNT", atOnce)),
        (reply) => read(() => toMessages(reply))
      ),
    details: (entryIds) => call(() => readDetails(entryIds)),
    ...snapshots(redis, base, call, evaluate)
  }
})

type Call = <A>(use: () => Promise<A>) => Effect.Effect<A, JournalError>
type Evaluate = (script: Script, keys: ReadonlyArray<string>, args: ReadonlyArray<string>) => Promise<unknown>

const snapshots = (
  redis: RedisLink["redis"],
  base: string,
  call: Call,
  evaluate: Evaluate
): Pick<Journal, "load" | "trim"> => {
  const newest = call(() => redis.get(`${base}snapshot`))
  const write = Effect.fnUntraced(function* (
    position: JournalPosition,
    nextPage: Effect.Effect<Option.Option<string>, JournalError>
  ) {
    const before = (yield* newest)?.split(" ")[1]
    const pages = `${base}pages:${newId()}`
    for (let page = yield* nextPage; Option.isSome(page); page = yield* nextPage) {
      const { value } = page
      yield* call(() =>
        redis.multi().rpush(pages, value).expire(pages, pageSeconds).expire(`${base}writer`, pageSeconds).exec()
      )
    }
    const old = before === undefined ? [] : [before]
    const args = [String(position.sequence), `${textOf(position)} ${pages}`, String(keptSeconds)]
    yield* call(() => evaluate(commitSnapshot, [`${base}snapshot`, `${base}log`, pages, ...old], args))
  })
  return {
    load: Effect.fnUntraced(function* (take) {
      const found = yield* newest
      if (found === null) return undefined
      const [, position = "", pages = ""] = /^(\d+-\d+) (\S+)$/.exec(found) ?? []
      const fetch = (page: number) => call(() => redis.lrange(pages, page, page + pagesAhead - 1))
      let texts = position === "" ? [] : yield* fetch(0)
      if (texts.length === 0)
        return yield* new JournalError({
          reason: "lost",
          why: { _tag: "SnapshotPagesMissing", snapshot: found.slice(0, 100) }
        })
      for (let page = pagesAhead; texts.length > 0; page += pagesAhead) {
        const next = yield* Effect.forkChild(fetch(page))
        for (const text of texts)
          yield* Effect.andThen(
            Effect.yieldNow,
            read(() => take(text))
          )
        texts = yield* Fiber.join(next)
      }
      return yield* read(() => toPosition(position))
    }),
    trim: Effect.fnUntraced(function* (position, nextPage) {
      const lockId = newId()
      const key = `${base}writer`
      const first = yield* call(() => redis.set(key, lockId, "EX", pageSeconds, "NX"))
      if (first === null) return false
      yield* Effect.ensuring(write(position, nextPage), Effect.ignore(call(() => redis.del(key))))
      return true
    })
  }
}

const textOf = ({ id, sequence }: JournalPosition): string => `${sequence}-${id}`

const appendArgs = (id: string, changes: JournalChanges, position: JournalPosition): ReadonlyArray<string> => {
  const { details, isStrict, rows, scope } = changes
  const listed = (values: ReadonlyArray<string>) => [String(values.length), ...values]
  return [
    textOf(position),
    id,
    rows,
    scope.join(" "),
    isStrict ? "1" : "0",
    ...listed([...details].flatMap(([key, value]) => (value === undefined ? [] : [key, value]))),
    ...listed([...details].flatMap(([key, value]) => (value === undefined ? [key] : [])))
  ]
}

const read = <A>(use: () => A): Effect.Effect<A, JournalError> =>
  Effect.try({
    try: use,
    catch: (cause) =>
      new JournalError({
        reason: "unavailable",
        why: { _tag: "QueueFails", why: { _tag: "QueueKeysUnreadable", why: withoutPeriod(readMessage(cause)) } }
      })
  })

const toAppended = (reply: unknown, id: string): AppendResult => {
  const [code, first, second] = list(reply)
  if (code === 0) return { _tag: "Conflict", missed: toMessages(first) }
  return { _tag: "Appended", position: { sequence: sequenceOf(first), id }, missed: toMessages(second) }
}

const sequenceOf = (text: unknown): number => {
  const sequence = Number.parseInt(String(text), 10)
  if (!Number.isSafeInteger(sequence)) throw new Error(`sequence ${String(text)}`)
  return sequence
}

const toPosition = (text: unknown): JournalPosition => {
  const [sequence, id = ""] = String(text).split("-")
  return { sequence: sequenceOf(sequence), id }
}

/** Reads messages as the stream has them: `[<sequence>-<id>, [name, value, …]]`. Those that no release wrote are damaged. */
const toMessages = (reply: unknown): ReadonlyArray<JournalRecord> =>
  list(reply).map((message) => {
    const [position, values] = list(message)
    const fields = list(values)
    const field = (name: string): string | undefined => {
      const at = fields.findIndex((value, place) => place % 2 === 0 && value === name)
      const value = fields[at + 1]
      return at !== -1 && typeof value === "string" ? value : undefined
    }
    const after = field("after")
    return {
      ...toPosition(position),
      after: after === undefined ? undefined : toPosition(after).id,
      rows: field("rows") ?? fields.join(" ")
    }
  })

const list = (value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value
  throw new Error(`${typeof value} in place of a list`)
}
