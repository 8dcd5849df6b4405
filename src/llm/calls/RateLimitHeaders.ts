/**
 * Reads the rate limits that a provider reports with a response. Only a limit with nothing remaining matters: until its reset every
 * request would be refused.
 *
 * | Provider | Headers | Reset |
 * |---|---|---|
 * | OpenAI, Azure, Groq, xAI | `x-ratelimit-remaining-requests`, `x-ratelimit-reset-requests`; the same for tokens | `6m0s`, `120ms`, seconds |
 * | Anthropic | `anthropic-ratelimit-requests-remaining`, `anthropic-ratelimit-requests-reset`; input and output tokens | RFC 3339 |
 * | others | `x-ratelimit-remaining`, `x-ratelimit-reset`; without `x-`; with a suffix such as `-day` | seconds, epoch |
 */
import { millisUntil, parseRetryAfter } from "../../domain/RetryAfter.ts"

type Headers = Readonly<Record<string, string | undefined>>

const decimal = /^\d{1,15}(\.\d{1,9})?$/
const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/
const duration = /(\d{1,9}(?:\.\d{1,9})?)(ms|us|µs|ns|d|h|m|s)/g
const unitMillis: Readonly<Record<string, number>> = {
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 0.000_001
}
/** Numbers from here on are times since the epoch in seconds, and in milliseconds. */
const firstEpochSeconds = 1_000_000_000
const firstEpochMillis = 1_000_000_000_000

/**
 * Returns the milliseconds until every limit with nothing remaining is reset; undefined if there is none. Unreadable values are
 * ignored. Header names are in lower case.
 */
export const exhaustedMillis = (headers: Headers | undefined, now: number): number | undefined => {
  const waits = Object.entries(headers ?? {}).flatMap(([name, remaining]) => {
    if (!name.includes("ratelimit") || !name.includes("remaining") || !isNone(remaining)) return []
    const wait = parseReset(headers?.[name.replace("remaining", "reset")], now)
    return wait === undefined ? [] : [wait]
  })
  return waits.length === 0 ? undefined : Math.max(...waits)
}

const isNone = (remaining: string | undefined): boolean =>
  remaining !== undefined && decimal.test(remaining.trim()) && Number(remaining) === 0

/** Returns milliseconds from `now`, between 0 and one day. */
const parseReset = (value: string | undefined, now: number): number | undefined => {
  const text = value?.trim() ?? ""
  if (decimal.test(text) && Number(text) >= firstEpochSeconds) {
    return millisUntil(Number(text) >= firstEpochMillis ? Number(text) : Number(text) * 1000, now)
  }
  if (timestamp.test(text)) {
    const time = Date.parse(text)
    return Number.isNaN(time) ? undefined : millisUntil(time, now)
  }
  return parseDuration(text) ?? parseRetryAfter({ "retry-after": text }, now)
}

const parseDuration = (text: string): number | undefined => {
  const parts = [...text.slice(0, 100).matchAll(duration)]
  if (parts.length === 0 || parts.map(([part]) => part).join("") !== text) return undefined
  const millis = parts.reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (unitMillis[unit] ?? 0), 0)
  return millisUntil(millis, 0)
}
