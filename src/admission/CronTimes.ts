/**
 * When a scheduled trigger fires: wall-clock times of its zone, as cron means them. A time that a clock change skips fires right
 * after the gap, one that it repeats fires the first time only. Milliseconds since the epoch.
 */
import { Cron, Result } from "effect"
import type { Trigger } from "../config/schema/Triggers.ts"

const compiled = new WeakMap<Trigger, Cron.Cron | null>()

/** Null for a trigger without a valid expression, which the configuration does not let through. */
const cronOf = (trigger: Trigger): Cron.Cron | null => {
  let cron = compiled.get(trigger)
  if (cron === undefined) {
    cron = Result.getOrNull(Cron.parse(trigger.cron ?? "", trigger.timezone ?? "UTC"))
    compiled.set(trigger, cron)
  }
  return cron
}

/** The first time after an instant; undefined when there is none (30 February). */
export const nextFire = (trigger: Trigger, after: number): number | undefined => {
  const cron = cronOf(trigger)
  return cron === null ? undefined : timeOf(() => Cron.next(cron, after))
}

/** The last time before an instant. */
export const previousFire = (trigger: Trigger, before: number): number | undefined => {
  const cron = cronOf(trigger)
  return cron === null ? undefined : timeOf(() => Cron.prev(cron, before))
}

/**
 * The time to fire for now, given when it last did: the newest one that has passed, so that a schedule that was down for many of
 * its times fires once. Undefined: nothing is due.
 */
export const dueFire = (trigger: Trigger, last: number, now: number): number | undefined => {
  const next = nextFire(trigger, last)
  if (next === undefined || next > now) return undefined
  // The time before the next one to come is the newest that has passed.
  const newest = newestFire(trigger, now)
  return newest === undefined || newest <= last ? next : newest
}

/**
 * Where the range of a fire begins that was admitted at an instant: the time before the one that it fired for. Admission comes after
 * the fire, by seconds or, when the service was down, by hours; it fires for the newest time that has passed (`dueFire`).
 */
export const rangeStart = (trigger: Trigger, admittedAt: number): number | undefined => {
  const fired = newestFire(trigger, admittedAt)
  return fired === undefined ? undefined : newestFire(trigger, fired - 1)
}

/** The newest time up to an instant. */
const newestFire = (trigger: Trigger, until: number): number | undefined => previousFire(trigger, until + 1)

/** Cron looks some years ahead and throws when it finds nothing. */
const timeOf = (find: () => Date): number | undefined => {
  try {
    return find().getTime()
  } catch {
    return undefined
  }
}
