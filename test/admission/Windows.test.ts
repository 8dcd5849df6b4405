/** Weekly windows in wall-clock time. */
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { nextOpen } from "../../src/admission/Windows.ts"
import type { Schedule } from "../../src/config/schema/Review.ts"

type Rules = NonNullable<Schedule["rules"]>
type Days = Rules[number]["days"]

const everyDay: Days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
const weekdays: Days = ["mon", "tue", "wed", "thu", "fri"]

const rule = (days: Days, ...windows: ReadonlyArray<string>): Rules[number] => ({
  days,
  windows: windows.map((window) => ({ start: window.slice(0, 5), end: window.slice(6) }))
})
const schedule = (timezone: string, ...rules: Rules): Schedule => ({ timezone, rules })
const next = (plan: Schedule, at: string): string => new Date(nextOpen(plan, Date.parse(at))).toISOString()

describe("windows", () => {
  const cases: ReadonlyArray<readonly [string, Schedule, string, string]> = [
    ["no rules", schedule("UTC"), "2026-03-04T12:34:56.789Z", "2026-03-04T12:34:56.789Z"],
    ["open now", schedule("UTC", rule(["wed"], "09:00-18:00")), "2026-03-04T12:34:56.789Z", "2026-03-04T12:34:56.789Z"],
    [
      "the first minute is in",
      schedule("UTC", rule(["wed"], "09:00-18:00")),
      "2026-03-04T09:00:00.000Z",
      "2026-03-04T09:00:00.000Z"
    ],
    [
      "the end is out",
      schedule("UTC", rule(everyDay, "09:00-18:00")),
      "2026-03-04T18:00:00.000Z",
      "2026-03-05T09:00:00.000Z"
    ],
    [
      "before opening",
      schedule("UTC", rule(["wed"], "09:00-18:00")),
      "2026-03-04T08:59:59.999Z",
      "2026-03-04T09:00:00.000Z"
    ],
    [
      "the first of two equal times, where clocks fall back by half an hour",
      schedule("Australia/Lord_Howe", rule(["sun"], "01:30-23:00")),
      "2026-04-04T12:00:00.000Z",
      "2026-04-04T14:30:00.000Z"
    ],
    [
      "over the weekend",
      schedule("UTC", rule(weekdays, "09:00-18:00")),
      "2026-03-06T18:30:00.000Z",
      "2026-03-09T09:00:00.000Z"
    ],
    [
      "a week away",
      schedule("UTC", rule(["wed"], "09:00-10:00")),
      "2026-03-04T10:00:00.000Z",
      "2026-03-11T09:00:00.000Z"
    ],
    [
      "the earliest of a union",
      schedule("UTC", rule(["fri"], "01:00-02:00"), rule(["thu"], "22:00-23:00", "05:00-06:00")),
      "2026-03-04T12:00:00.000Z",
      "2026-03-05T05:00:00.000Z"
    ],
    [
      "across midnight, before it",
      schedule("UTC", rule(["wed"], "22:00-02:00")),
      "2026-03-04T23:59:00.000Z",
      "2026-03-04T23:59:00.000Z"
    ],
    [
      "across midnight, after it",
      schedule("UTC", rule(["wed"], "22:00-02:00")),
      "2026-03-05T01:59:00.000Z",
      "2026-03-05T01:59:00.000Z"
    ],
    [
      "across midnight, over",
      schedule("UTC", rule(["wed"], "22:00-02:00")),
      "2026-03-05T02:00:00.000Z",
      "2026-03-11T22:00:00.000Z"
    ],
    [
      "across midnight belongs to its first day",
      schedule("UTC", rule(["thu"], "22:00-02:00")),
      "2026-03-05T01:00:00.000Z",
      "2026-03-05T22:00:00.000Z"
    ],
    [
      "saturday into sunday",
      schedule("UTC", rule(["sat"], "22:00-02:00")),
      "2026-03-08T01:00:00.000Z",
      "2026-03-08T01:00:00.000Z"
    ],
    [
      "a whole day",
      schedule("UTC", rule(["thu"], "00:00-24:00")),
      "2026-03-04T12:00:00.000Z",
      "2026-03-05T00:00:00.000Z"
    ],
    [
      "until midnight",
      schedule("UTC", rule(["wed"], "20:00-24:00")),
      "2026-03-04T23:59:59.000Z",
      "2026-03-04T23:59:59.000Z"
    ],
    [
      "another zone",
      schedule("Asia/Shanghai", rule(["thu"], "09:00-18:00")),
      "2026-03-04T20:00:00.000Z",
      "2026-03-05T01:00:00.000Z"
    ],
    [
      "a zone with half an hour",
      schedule("Asia/Kolkata", rule(everyDay, "09:00-10:00")),
      "2026-03-04T05:00:00.000Z",
      "2026-03-05T03:30:00.000Z"
    ],
    [
      "the day of the zone, not of UTC",
      schedule("America/Los_Angeles", rule(["wed"], "17:00-23:00")),
      "2026-03-05T02:00:00.000Z",
      "2026-03-05T02:00:00.000Z"
    ],
    // Berlin, 29 March 2026: 02:00 becomes 03:00.
    [
      "a window that opens in the gap opens after it",
      schedule("Europe/Berlin", rule(["sun"], "02:30-05:00")),
      "2026-03-29T00:30:00.000Z",
      "2026-03-29T01:00:00.000Z"
    ],
    [
      "a window within the gap waits a week",
      schedule("Europe/Berlin", rule(["sun"], "02:15-02:45")),
      "2026-03-29T00:30:00.000Z",
      "2026-04-05T00:15:00.000Z"
    ],
    [
      "after the change the offset is the new one",
      schedule("Europe/Berlin", rule(["sun"], "09:00-10:00")),
      "2026-03-28T12:00:00.000Z",
      "2026-03-29T07:00:00.000Z"
    ],
    // Berlin, 25 October 2026: 03:00 becomes 02:00, so 02:30 is at 00:30Z and at 01:30Z.
    [
      "the repeated hour: first time",
      schedule("Europe/Berlin", rule(["sun"], "02:30-02:45")),
      "2026-10-25T00:00:00.000Z",
      "2026-10-25T00:30:00.000Z"
    ],
    [
      "the repeated hour: second time",
      schedule("Europe/Berlin", rule(["sun"], "02:30-02:45")),
      "2026-10-25T00:45:00.000Z",
      "2026-10-25T01:30:00.000Z"
    ],
    [
      "a window whose end is repeated opens again",
      schedule("Europe/Berlin", rule(["sun"], "00:00-02:30")),
      "2026-10-25T00:40:00.000Z",
      "2026-10-25T01:00:00.000Z"
    ],
    [
      "after the repeated hour",
      schedule("Europe/Berlin", rule(["sun"], "09:00-10:00")),
      "2026-10-24T20:00:00.000Z",
      "2026-10-25T08:00:00.000Z"
    ]
  ]
  for (const [what, plan, at, expected] of cases) {
    it(`${what}`, () => assert.strictEqual(next(plan, at), expected))
  }

  /** Slow reference: checks every minute's wall clock. */
  const isOpen = (plan: Schedule, instant: number): boolean => {
    const parts = new Intl.DateTimeFormat("en-US", {
      timeZone: plan.timezone,
      hourCycle: "h23",
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit"
    }).formatToParts(instant)
    const part = (type: string) => parts.find((found) => found.type === type)?.value ?? ""
    const today = everyDay.indexOf(everyDay.find((day) => day === part("weekday").toLowerCase()) ?? "mon")
    const yesterday = everyDay[(today + 6) % 7]
    const time = `${part("hour")}:${part("minute")}`
    return (plan.rules ?? []).some(({ days, windows }) =>
      windows.some(({ end, start }) => {
        const crosses = end <= start
        if (days.some((day) => day === everyDay[today]) && time >= start && (crosses || time < end)) return true
        return crosses && days.some((day) => day === yesterday) && time < end
      })
    )
  }

  it("opens exactly at the first open minute, around changes of the clock in any zone", () => {
    const time = fc
      .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom("00", "15", "30", "45"))
      .map(([hour, minute]) => `${String(hour).padStart(2, "0")}:${minute}`)
    const rules = fc.array(
      fc.record({
        days: fc.uniqueArray(fc.constantFrom(...everyDay), { minLength: 1 }),
        windows: fc.array(fc.record({ start: time, end: time }), { minLength: 1, maxLength: 2 })
      }),
      { minLength: 1, maxLength: 2 }
    )
    const zone = fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC")
    const start = fc.constantFrom(
      "2026-03-08T04:00Z",
      "2026-03-28T22:00Z",
      "2026-04-04T12:00Z",
      "2026-10-03T12:00Z",
      "2026-10-24T22:00Z",
      "2026-11-01T03:00Z"
    )
    fc.assert(
      fc.property(rules, zone, start, fc.integer({ min: 0, max: 600 }), (given, timezone, from, minutes) => {
        const plan = { timezone, rules: given }
        const at = Date.parse(from) + minutes * 60_000
        const opened = nextOpen(plan, at)
        let expected = at
        for (let looked = 0; !isOpen(plan, expected); looked++) {
          if (looked > 2 * 24 * 60) return assert.isAbove(opened, expected - 60_000)
          expected += 60_000
        }
        assert.strictEqual(new Date(opened).toISOString(), new Date(expected).toISOString())
      }),
      { numRuns: 60 }
    )
  }, 120_000)
})
