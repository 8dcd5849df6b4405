/**
 * Computes when admitted work may start, in milliseconds since the epoch: at its due time, or when the next weekly window opens. Times are
 * wall-clock times of an IANA zone: a window that would open in the gap of a clock change opens right after it, and a repeated hour counts
 * twice. A window may cross midnight and belongs to the weekday on which it starts. Groups are joined.
 */
import type { ReviewConfig, Schedule } from "../config/schema/Review.ts"
import type { TargetKind } from "../domain/Kinds.ts"

/** Pull requests start immediately, or when their schedule opens. Without a schedule that of automatic commits applies. */
export const pullRequestDue = (review: ReviewConfig, now: number): number => {
  const own = review.pull_request.schedule
  return nextOpen(own.rules === undefined ? review.auto_commit.schedule : own, now)
}

/** A request of a comment or of chat starts immediately, unless the workspace has such requests wait for its windows. */
export const commandDue = (review: ReviewConfig, kind: TargetKind, now: number): number => {
  if (review.commands_ignore_windows) return now
  return kind === "pull_request" ? pullRequestDue(review, now) : nextOpen(review.auto_commit.schedule, now)
}

/** Automatic commits wait for further pushes of their batch, then for the next window. */
export const pushDue = (review: ReviewConfig, now: number): number =>
  nextOpen(review.auto_commit.schedule, now + review.auto_commit.delay_seconds * 1000)

const minute = 60_000
const day = 24 * 60 * minute

type Weekday = NonNullable<Schedule["rules"]>[number]["days"][number]
const weekdays: ReadonlyArray<Weekday> = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = formats.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric"
  })
  formats.set(zone, made)
  return made
}

/** Returns the wall clock at an instant, expressed as UTC and truncated to the minute. */
const wallAt = (zone: string, instant: number): number => {
  const parts = { year: 0, month: 0, day: 0, hour: 0, minute: 0 }
  for (const { type, value } of formatOf(zone).formatToParts(instant)) {
    if (type in parts) parts[type as keyof typeof parts] = Number(value)
  }
  return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute)
}

const offsetAt = (zone: string, instant: number): number =>
  wallAt(zone, instant) - Math.floor(instant / minute) * minute

interface Range {
  readonly weekday: number
  /** Minutes from the midnight that starts `weekday`; `end` is beyond 24:00 if the window crosses midnight. */
  readonly start: number
  readonly end: number
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))

const rangesOf = (rules: NonNullable<Schedule["rules"]>): ReadonlyArray<Range> =>
  rules.flatMap(({ days, windows }) =>
    windows.flatMap((window) => {
      const start = minutesOf(window.start)
      const end = minutesOf(window.end)
      return days.map((name) => ({ weekday: weekdays.indexOf(name), start, end: end <= start ? end + 24 * 60 : end }))
    })
  )

const isOpenAt = (ranges: ReadonlyArray<Range>, zone: string, instant: number): boolean => {
  const wall = new Date(wallAt(zone, instant))
  const now = wall.getUTCHours() * 60 + wall.getUTCMinutes()
  const today = wall.getUTCDay()
  return ranges.some(({ weekday, start, end }) => {
    if (weekday === today && now >= start && now < end) return true
    return (weekday + 1) % 7 === today && now + 24 * 60 < end
  })
}

/** Returns the first instant after `from` at which the zone's offset changes, if `to` has another offset. */
const transitionBetween = (zone: string, from: number, to: number): number => {
  const before = offsetAt(zone, from)
  let low = from
  let high = to
  while (high - low > minute) {
    const middle = Math.floor((low + high) / 2 / minute) * minute
    if (offsetAt(zone, middle) === before) low = middle
    else high = middle
  }
  return Math.floor(high / minute) * minute
}

/** Returns the instants after `at` at which a window may open: starts of windows, and clock changes. */
const openings = (ranges: ReadonlyArray<Range>, zone: string, at: number): ReadonlyArray<number> => {
  const found: Array<number> = []
  const midnight = Math.floor(wallAt(zone, at) / day) * day
  for (let ahead = -1; ahead <= 8; ahead++) {
    const from = at + ahead * day
    const before = offsetAt(zone, from)
    const after = offsetAt(zone, from + 2 * day)
    if (before !== after) found.push(transitionBetween(zone, from, from + 2 * day))
    const date = midnight + ahead * day
    for (const { weekday, start } of ranges) {
      if (new Date(date).getUTCDay() !== weekday) continue
      const wall = date + start * minute
      // The offsets of a day before and two days after cover the local day in every zone: a repeated hour has an instant in each offset.
      for (const offset of new Set([date - day, date, date + 2 * day].map((near) => offsetAt(zone, near)))) {
        if (wallAt(zone, wall - offset) === wall) found.push(wall - offset)
      }
    }
  }
  return found.filter((instant) => instant > at).toSorted((a, b) => a - b)
}

/** Returns `at` if the schedule is open or sets no limits, otherwise the next instant at which it opens. Milliseconds since the epoch. */
export const nextOpen = (schedule: Schedule, at: number): number => {
  if (schedule.rules === undefined || schedule.rules.length === 0) return at
  const ranges = rangesOf(schedule.rules)
  if (isOpenAt(ranges, schedule.timezone, at)) return at
  const opening = openings(ranges, schedule.timezone, at).find((instant) =>
    isOpenAt(ranges, schedule.timezone, instant)
  )
  // A window that only exists in a DST gap does not open within the next eight days.
  return opening ?? nextOpen(schedule, at + 8 * day)
}
