/**
 * Creates the Redis client of queue, cache and catalog: its settings, its address and its errors. The package is loaded by the first
 * client.
 */
import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import type { Redis, RedisOptions } from "ioredis"
import { backoffMillis, doubling } from "../domain/Backoff.ts"

/** Timeout in milliseconds of an attempt to connect. */
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

/** Settings of a client that fails calls immediately while Redis is disconnected, repeats none, and reconnects forever. */
export const failFast = (connectionName: string, responseMillis: number): Settings => ({
  connectionName,
  commandTimeout: responseMillis,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (times) => backoffMillis(betweenConnects, times, 0)
})

export interface RedisClient {
  readonly redis: Redis
  /** Returns the last error of the connection. */
  readonly lastError: () => string
}

/** Opens a client that is not connected yet. Ends with the scope; fails with the client's error if it cannot parse the URL. */
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
  return { redis, lastError: () => said }
})

/** Returns host and port, never credentials, or undefined if it is not a URL. */
export const parsePlace = (url: Redacted.Redacted): string | undefined => {
  const parsed = parse(url)
  return parsed === null ? undefined : `${parsed.hostname || "localhost"}:${parsed.port || "6379"}`
}

/** Returns whether the protocol is one of Redis. */
export const isRedisUrl = (url: Redacted.Redacted): boolean => /^rediss?:$/.test(parse(url)?.protocol ?? "")

const parse = (url: Redacted.Redacted): URL | null => URL.parse(String(Redacted.value(url)))

export const readMessage = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))

/** Returns why a call failed. The error of ioredis for a command that could not be sent has no cause; the connection's `said` does. */
export const explainFailure = (cause: unknown, said: string): string => {
  const message = readMessage(cause)
  return /Stream isn't writeable|Connection is closed|max retries per request/.test(message) ? said : message
}
