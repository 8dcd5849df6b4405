/**
 * The client of Redis that the queue, the cache and the catalog open: what it is told, where it goes, and why it failed. The package
 * is loaded when the first one opens.
 */
import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import type { Redis, RedisOptions } from "ioredis"
import { backoffMillis, doubling } from "../domain/Backoff.ts"

/** Milliseconds that an attempt to connect may take. */
const connectTimeout = 5000
const betweenConnects = doubling(100, 2000)

type Settings = Pick<
  RedisOptions,
  | "connectionName"
  | "commandTimeout"
  | "enableOfflineQueue"
  | "autoResendUnfulfilledCommands"
  | "maxRetriesPerRequest"
  | "retryStrategy"
>

/** A client that fails a call at once while Redis is away, sends none again behind the caller's back, and reconnects for ever. */
export const failsAtOnce = (connectionName: string, answerWithin: number): Settings => ({
  connectionName,
  commandTimeout: answerWithin,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (times) => backoffMillis(betweenConnects, times, 0)
})

export interface RedisClient {
  readonly redis: Redis
  /** What the connection said last of its failure. */
  readonly said: () => string
}

/** Not connected yet. Ends with the scope; fails with what the client throws when it cannot read the URL. */
export const open = Effect.fnUntraced(function* (
  url: Redacted.Redacted,
  options: Settings
): Effect.fn.Return<RedisClient, unknown, Scope.Scope> {
  const { Redis: Client } = yield* Effect.promise(() => import("ioredis"))
  const redis = yield* Effect.acquireRelease(
    Effect.try({
      try: () => new Client(Redacted.value(url), { lazyConnect: true, connectTimeout, ...options }),
      catch: (cause) => cause
    }),
    (client) => Effect.sync(() => client.disconnect())
  )
  let said = "no response"
  // Without a listener an error event would end the process, or be written to the console.
  redis.on("error", (error: Error) => {
    said = error.message
  })
  return { redis, said: () => said }
})

/** Host and port, never credentials. Undefined: no URL. */
export const placeOf = (url: Redacted.Redacted): string | undefined => {
  const parsed = parse(url)
  return parsed === null ? undefined : `${parsed.hostname || "localhost"}:${parsed.port || "6379"}`
}

/** Whether its protocol is one of Redis. */
export const isRedisUrl = (url: Redacted.Redacted): boolean => /^rediss?:$/.test(parse(url)?.protocol ?? "")

const parse = (url: Redacted.Redacted): URL | null => URL.parse(String(Redacted.value(url)))

export const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Why a call failed. What ioredis says of a command that could not be sent does not say why; what the connection `said` does. */
export const reasonOf = (cause: unknown, said: string): string => {
  const message = messageOf(cause)
  return /Stream isn't writeable|Connection is closed|max retries per request/.test(message) ? said : message
}
