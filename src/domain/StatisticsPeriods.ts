/** Periods of statistics: hours, days and calendar windows, all in UTC, as milliseconds since the epoch. Pure. */
import { DateTime } from "effect"

export const hourMillis = 3_600_000
export const dayMillis = 86_400_000

export const startOfHour = (at: number): number => Math.floor(at / hourMillis) * hourMillis
export const startOfDay = (at: number): number => Math.floor(at / dayMillis) * dayMillis

const windowNames = ["all", "today", "week", "month"] as const
export type WindowName = (typeof windowNames)[number]

/** Returns the start of each calendar window that contains a time. Weeks begin on Monday. */
export const windowStarts = (now: number): Readonly<Record<WindowName, number>> => {
  const utc = DateTime.makeUnsafe(now)
  return {
    all: 0,
    today: startOfDay(now),
    week: DateTime.toEpochMillis(DateTime.startOf(utc, "week", { weekStartsOn: 1 })),
    month: DateTime.toEpochMillis(DateTime.startOf(utc, "month"))
  }
}

export type TimelineBucket = "hour" | "day"

/** Bounds of a timeline: buckets without `since`, and the maximum number of buckets. Hours are removed when they are older. */
const timelineBounds = {
  hour: { millis: hourMillis, byDefault: 48, max: 35 * 24 },
  day: { millis: dayMillis, byDefault: 90, max: 3660 }
} as const satisfies Record<TimelineBucket, { millis: number; byDefault: number; max: number }>

/** Time before which the counts per hour are removed. Those per day remain. */
export const keptHoursSince = (now: number): number => startOfHour(now) - (timelineBounds.hour.max - 1) * hourMillis

/** Returns the starts of the buckets from `since` to `now`, oldest first, at most the newest `max`. */
export const bucketStarts = (bucket: TimelineBucket, since: number | undefined, now: number): ReadonlyArray<number> => {
  const { byDefault, max, millis } = timelineBounds[bucket]
  const last = Math.floor(now / millis)
  const first = since === undefined ? last - byDefault + 1 : Math.floor(since / millis)
  const count = Math.max(0, Math.min(max, last - first + 1))
  return Array.from({ length: count }, (_, at) => (last - count + 1 + at) * millis)
}
