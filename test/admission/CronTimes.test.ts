/** Times of scheduled triggers: zones, clock changes, and what is due after being down. */
import { assert, describe, it } from "vitest"
import * as fc from "fast-check"
import { dueFire, nextFire, previousFire } from "../../src/admission/CronTimes.ts"
import type { Trigger } from "../../src/config/schema/Triggers.ts"

const trigger = (cron: string, timezone?: string): Trigger => ({
  name: "nightly",
  kind: "scheduled",
  enabled: true,
  trust_server_cert: false,
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
