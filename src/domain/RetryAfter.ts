/**
 * How long a server asks to be left alone: `retry-after-ms` (milliseconds, as some model providers send) and `Retry-After` (RFC 9110:
 * delta seconds or an HTTP date). One parser for git hosts, chat platforms and model providers. Values that are not one of these
 * forms, such as negative numbers, are ignored: the caller then waits as long as it does without a header.
 */

/** Longest wait that a header can ask for, in milliseconds. A larger value is a broken header. */
export const maxRetryAfterMillis = 24 * 3_600_000

const decimal = /^\d{1,15}(\.\d{1,9})?$/
/** The three forms of RFC 9110: IMF-fixdate, RFC 850, asctime. `Date.parse` alone takes far more, `-5` among it. */
const zoned =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$|^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/
const asctime = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/

/** Milliseconds from `now`, from 0 to `maxRetryAfterMillis`; undefined when the headers name no time. Header names are in lower case. */
export const parseRetryAfter = (
  headers: Readonly<Record<string, string | undefined>> | undefined,
  now: number
): number | undefined =>
  amount(headers?.["retry-after-ms"], 1) ??
  amount(headers?.["retry-after"], 1000) ??
  untilDate(headers?.["retry-after"], now)

/** Milliseconds from `now` to a time since the epoch, within the same bounds. */
export const millisUntil = (time: number, now: number): number =>
  Math.min(Math.max(0, Math.ceil(time - now)), maxRetryAfterMillis)

const amount = (value: string | undefined, unitMillis: number): number | undefined => {
  const text = value?.trim()
  if (text === undefined || !decimal.test(text)) return undefined
  // 65605.111 * 1000 is a little more than 65605111.
  return millisUntil(Number((Number(text) * unitMillis).toFixed(6)), 0)
}

const untilDate = (value: string | undefined, now: number): number | undefined => {
  const text = value?.trim() ?? ""
  const date = zoned.test(text) ? Date.parse(text) : asctime.test(text) ? Date.parse(`${text} GMT`) : Number.NaN
  return Number.isNaN(date) ? undefined : millisUntil(date, now)
}
