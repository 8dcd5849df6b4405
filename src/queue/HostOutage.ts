/**
 * How long a review waits for a host that cannot be reached, limits the credential or fails: no attempt of the review is used up, the delay
 * grows with the time that the outage has lasted, and after a day, or what `queued_timeout_hours` allows automatic work, it ends.
 */
import { Duration } from "effect"

const shortestDelay = Duration.toMillis("5 seconds")
const longestDelay = Duration.toMillis("10 minutes")
const day = Duration.toMillis("24 hours")

/** Milliseconds that an outage may last before the review fails. `hours` is `queued_timeout_hours`; 0 sets no limit of its own. */
export const outageLimit = (expires: boolean, hours: number): number =>
  expires && hours > 0 ? Duration.toMillis(Duration.hours(hours)) : day

/**
 * When to try again, in milliseconds since the epoch; undefined: the outage has lasted too long. `since` is its begin, `notBefore` what the
 * host asked for. `random` is in [0, 1): a delay is half of the time that the outage has lasted, a quarter more or less.
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
