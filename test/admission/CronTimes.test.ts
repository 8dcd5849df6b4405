/** Times of scheduled triggers: zones, clock changes, and the due time after a downtime. */
import { assert, describe, it } from "vitest"
import * as fc from "fast-check"
import { dueFire, nextFire, previousFire, rangeStart } from "../../src/admission/CronTimes.ts"
import type { Trigger } from "../../src/config/schema/Triggers.ts"
import { triggerDefaults } from "../harness/TriggerDefaults.ts"

const trigger = (cron: string, timezone?: string): Trigger => ({
  name: "nightly",
  kind: "scheduled",
  ...triggerDefaults,
  cron,
  timezone
})
const iso = (millis: number | undefined) => (millis === undefined ? undefined : new Date(millis).toISOString())
const at = (text: string) => Date.parse(text)

describe("next fire", () => {
  it.each<readonly [string, string, string | undefined, string, string | undefined]>([
    ["in UTC", "0 3 * * *", undefined, "2026-01-01T00:00:00Z", "2026-01-01T03:00:00.000Z"],
    ["never at its own instant", "0 3 * * *", undefined, "2026-01-01T03:00:00Z", "2026-01-02T03:00:00.000Z"],
    ["in a zone", "0 3 * * *", "Asia/Shanghai", "2026-01-01T00:00:00Z", "2026-01-01T19:00:00.000Z"],
    ["on weekdays", "0 3 * * 1-5", "Europe/Berlin", "2026-01-02T12:00:00Z", "2026-01-05T02:00:00.000Z"],
    [
      "skipped by the clock: right after the gap",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-03-28T12:00:00Z",
      "2026-03-29T01:30:00.000Z"
    ],
    ["the day after that", "30 2 * * *", "Europe/Berlin", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00.000Z"],
    [
      "repeated by the clock: the first time",
      "30 2 * * *",
      "Europe/Berlin",
      "2026-10-24T12:00:00Z",
      "2026-10-25T00:30:00.000Z"
    ],
    ["and not the second", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00.000Z"],
    ["a day that never comes", "0 3 30 2 *", undefined, "2026-01-01T00:00:00Z", undefined]
  ])("%s", (_, cron, zone, after, expected) => {
    assert.strictEqual(iso(nextFire(trigger(cron, zone), at(after))), expected)
  })
})

describe("due fire", () => {
  const nightly = trigger("0 3 * * *")
  it.each<readonly [string, string, string, string | undefined]>([
    ["not yet", "2026-01-01T03:00:00Z", "2026-01-02T02:59:59Z", undefined],
    ["now", "2026-01-01T03:00:00Z", "2026-01-02T03:00:00Z", "2026-01-02T03:00:00.000Z"],
    ["the newest of many", "2026-01-01T03:00:00Z", "2026-02-02T02:00:00Z", "2026-02-01T03:00:00.000Z"],
    ["a clock set back", "2026-01-02T03:00:00Z", "2026-01-01T12:00:00Z", undefined]
  ])("%s", (_, last, now, expected) => {
    assert.strictEqual(iso(dueFire(nightly, at(last), at(now))), expected)
  })

  it("once for each time, however irregular the looks are, in every zone", () => {
    const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]
    let checked = 0
    const steps = fc.array(fc.integer({ min: 1, max: 5_000_000 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(
        fc.constantFrom("*/20 * * * *", "30 2 * * *", "0 */6 * * 1-5"),
        fc.constantFrom(...zones),
        fc.constantFrom(at("2026-03-28T20:00:00Z"), at("2026-10-24T20:00:00Z"), at("2026-06-01T00:00:00Z")),
        steps,
        (cron, zone, start, pauses) => {
          const schedule = trigger(cron, zone)
          let last = start
          let now = start
          for (const pause of pauses) {
            now += pause
            const fire = dueFire(schedule, last, now)
            if (fire === undefined) {
              const next = nextFire(schedule, last)
              assert(next === undefined || next > now)
              continue
            }
            assert(fire > last && fire <= now)
            last = fire
            assert.isUndefined(dueFire(schedule, last, now))
          }
          checked++
        }
      )
    )
    assert.strictEqual(checked, 100)
  })

  it("the time before is the one that was fired for", () => {
    assert.strictEqual(iso(previousFire(nightly, at("2026-01-02T03:00:00Z"))), "2026-01-01T03:00:00.000Z")
  })
})

describe("range of a fire", () => {
  it.each<readonly [string, string, string, string, string]>([
    ["admitted at once", "0 3 * * *", "UTC", "2026-01-02T03:00:00.000Z", "2026-01-01T03:00:00.000Z"],
    ["admitted a little later", "0 3 * * *", "UTC", "2026-01-02T03:00:00.250Z", "2026-01-01T03:00:00.000Z"],
    ["admitted after hours of being down", "0 3 * * *", "UTC", "2026-01-02T20:00:00.000Z", "2026-01-01T03:00:00.000Z"],
    ["over a gap", "30 2 * * *", "Europe/Berlin", "2026-03-29T01:30:05.000Z", "2026-03-28T01:30:00.000Z"],
    ["after a gap", "30 2 * * *", "Europe/Berlin", "2026-03-30T00:30:05.000Z", "2026-03-29T01:30:00.000Z"],
    ["over an overlap", "30 2 * * *", "Europe/Berlin", "2026-10-26T01:30:05.000Z", "2026-10-25T00:30:00.000Z"]
  ])("%s", (_, cron, zone, admitted, expected) => {
    assert.strictEqual(iso(rangeStart(trigger(cron, zone), at(admitted))), expected)
  })

  it("is from the time before the one that is fired for, whatever the delay, the outage and the clocks", () => {
    const crons = ["0 3 * * *", "30 2 * * *", "*/20 * * * *", "15 1,2,3 * * *", "0 0 * * 1", "45 23 1 * *"]
    const zones = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]
    // Weeks around each of a year's clock changes, and any other time.
    const changes = ["2026-03-08", "2026-03-29", "2026-04-05", "2026-10-04", "2026-10-25", "2026-11-01"]
    const around = fc
      .tuple(fc.constantFrom(...changes), fc.integer({ min: -5 * 86_400_000, max: 5 * 86_400_000 }))
      .map(([day, offset]) => at(`${day}T00:00:00Z`) + offset)
    const anyTime = fc.integer({ min: at("2026-01-01T00:00:00Z"), max: at("2027-01-01T00:00:00Z") })
    const delay = fc.oneof(
      fc.constant(0),
      fc.integer({ min: 1, max: 5000 }),
      fc.integer({ min: 1, max: 3 * 86_400_000 })
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...crons),
        fc.constantFrom(...zones),
        fc.oneof(around, anyTime),
        delay,
        (cron, zone, last, down) => {
          const given = trigger(cron, zone)
          // Simulates the scheduler: it ran until `last`, and scans again after the next time and a delay.
          const next = nextFire(given, last)
          if (next === undefined) return
          const now = next + down
          const fired = dueFire(given, last, now)
          assert.isDefined(fired)
          // Times one after the other from well before, of which the last two count.
          let before: number | undefined
          let newest: number | undefined
          const back = (cron.startsWith("45") ? 70 : 15) * 86_400_000
          for (let time = nextFire(given, last - back); time !== undefined && time <= now;) {
            before = newest
            newest = time
            time = nextFire(given, time)
          }
          assert.strictEqual(iso(fired), iso(newest))
          assert.strictEqual(iso(rangeStart(given, now)), iso(before))
        }
      ),
      { numRuns: 150 }
    )
  })
})
