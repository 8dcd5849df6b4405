/**
 * Limits how long a review waits for a host that is unreachable, rate-limits the credential or fails. It costs no attempt of the review.
 * The delay grows with the duration of the outage, and the review fails after a day, or after `queued_timeout_hours` for automatic work.
 */
import { Duration } from "effect"

const shortestDelay = Duration.toMillis("5 seconds")
const longestDelay = Duration.toMillis("10 minutes")
const day = Duration.toMillis("24 hours")

/**
 * Returns the milliseconds that an outage may last before the review fails. `hours` is `queued_timeout_hours`; 0 sets no additional limit.
 */
export const outageLimit = (expires: boolean, hours: number): number =>
  expires && hours > 0 ? Duration.toMillis(Duration.hours(hours)) : day

/**
 * Returns the time of the next attempt in milliseconds since the epoch, or undefined if the outage has lasted too long. `since` is its
 * start, `notBefore` the time requested by the host. `random` is in [0, 1): a delay is half of the duration of the outage, plus or minus a
 * quarter.
 */
export const retryDuringOutage = (outage: {
  readonly since: number
  readonly now: number
  readonly limit: number
  readonly notBefore: number | undefined
  readonly random: number
}): number | undefined => {
  const { since, now, limit, notBefore = 0, random } = outage
  const lasted = now - since
  if (lasted >= limit) return undefined
  const delay = Math.min(Math.max(shortestDelay, lasted / 2), longestDelay) * (0.75 + random / 2)
  return Math.min(Math.max(Math.round(now + delay), notBefore), since + limit)
}
