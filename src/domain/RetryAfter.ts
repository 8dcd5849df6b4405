/**
 * Parses the retry delay of a server: `retry-after-ms` (milliseconds, sent by some model providers) and `Retry-After` (RFC 9110: delta
 * seconds or an HTTP date). Shared by git hosts, chat platforms and model providers. Other values, such as negative numbers, are ignored:
 * the caller then waits as long as it does without a header.
 */

/** Longest delay in milliseconds that a header can request. A larger value is a broken header. */
export const maxRetryAfterMillis = 24 * 3_600_000

const decimal = /^\d{1,15}(\.\d{1,9})?$/
/** The three forms of RFC 9110: IMF-fixdate, RFC 850, asctime. `Date.parse` alone accepts far more, including `-5`. */
const zoned =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$|^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/
const asctime = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

/**
 * Returns milliseconds from `now`, between 0 and `maxRetryAfterMillis`; undefined if the headers contain no time. Header names are in lower
 * case.
 */
export const parseRetryAfter = (
  headers: Readonly<Record<string, string | undefined>> | undefined,
  now: number
): number | undefined =>
  amount(headers?.["retry-after-ms"], 1) ??
  amount(headers?.["retry-after"], 1000) ??
  untilDate(headers?.["retry-after"], now)

/** Returns milliseconds from `now` to a time since the epoch, within the same bounds. */
export const millisUntil = (time: number, now: number): number =>
  Math.min(Math.max(0, Math.ceil(time - now)), maxRetryAfterMillis)

const amount = (value: string | undefined, unitMillis: number): number | undefined => {
  const text = value?.trim()
  if (text === undefined || !decimal.test(text)) return undefined
  // Rounding: 65605.111 * 1000 is a little more than 65605111.
  return millisUntil(Number((Number(text) * unitMillis).toFixed(6)), 0)
}

const untilDate = (value: string | undefined, now: number): number | undefined => {
  const text = value?.trim() ?? ""
  const date = zoned.test(text) ? Date.parse(text) : asctime.test(text) ? Date.parse(`${text} GMT`) : Number.NaN
  return Number.isNaN(date) ? undefined : millisUntil(date, now)
}
