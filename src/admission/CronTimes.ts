/**
 * Computes the times of a scheduled trigger: wall-clock times of its zone, with the semantics of cron. A time that a clock change skips
 * fires right after the gap, a repeated one fires the first time only. Milliseconds since the epoch.
 */
import { Cron, Result } from "effect"
import type { Trigger } from "../config/schema/Triggers.ts"

const compiled = new WeakMap<Trigger, Cron.Cron | null>()

/** Null for a trigger without a valid expression, which validation of the configuration rejects. */
const cronOf = (trigger: Trigger): Cron.Cron | null => {
  let cron = compiled.get(trigger)
  if (cron === undefined) {
    cron = Result.getOrNull(Cron.parse(trigger.cron ?? "", trigger.timezone ?? "UTC"))
    compiled.set(trigger, cron)
  }
  return cron
}

/** Returns the first time after an instant, or undefined if there is none (30 February). */
export const nextFire = (trigger: Trigger, after: number): number | undefined => {
  const cron = cronOf(trigger)
  return cron === null ? undefined : timeOf(() => Cron.next(cron, after))
}

/** Returns the last time before an instant. */
export const previousFire = (trigger: Trigger, before: number): number | undefined => {
  const cron = cronOf(trigger)
  return cron === null ? undefined : timeOf(() => Cron.prev(cron, before))
}

/**
 * Returns the time to fire for now, given the last one: the newest that has passed, so that a schedule fires once for many missed times.
 * Undefined if nothing is due.
 */
export const dueFire = (trigger: Trigger, last: number, now: number): number | undefined => {
  const next = nextFire(trigger, last)
  if (next === undefined || next > now) return undefined
  // The time before the next one is the newest that has passed.
  const newest = newestFire(trigger, now)
  return newest === undefined || newest <= last ? next : newest
}

/**
 * Returns the start of the range of a fire that was admitted at an instant: the time before the one that it fired for. Admission follows
 * the fire by seconds or, after a downtime, by hours; it fires for the newest time that has passed (`dueFire`).
 */
export const rangeStart = (trigger: Trigger, admittedAt: number): number | undefined => {
  const fired = newestFire(trigger, admittedAt)
  return fired === undefined ? undefined : newestFire(trigger, fired - 1)
}

/** Returns the newest time up to an instant. */
const newestFire = (trigger: Trigger, until: number): number | undefined => previousFire(trigger, until + 1)

/** The search covers some years and throws if it finds nothing. */
const timeOf = (find: () => Date): number | undefined => {
  try {
    return find().getTime()
  } catch {
    return undefined
  }
}
