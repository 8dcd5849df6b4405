import { assert, it } from "@effect/vitest"
import { bucketStarts, keptHoursSince, windowStarts } from "../../src/domain/StatisticsPeriods.ts"

const utc = (text: string) => Date.parse(text)

it.each([
  ["2026-03-04T12:34:56Z", "2026-03-04", "2026-03-02", "2026-03-01"],
  ["2026-03-02T00:00:00Z", "2026-03-02", "2026-03-02", "2026-03-01"],
  ["2026-03-01T23:59:59.999Z", "2026-03-01", "2026-02-23", "2026-03-01"],
  ["2027-01-01T00:00:00Z", "2027-01-01", "2026-12-28", "2027-01-01"]
])("at %s today begins on %s, the week on %s, the month on %s", (now, today, week, month) => {
  assert.deepStrictEqual(windowStarts(utc(now)), { all: 0, today: utc(today), week: utc(week), month: utc(month) })
})

it.each([
  ["day", "2026-03-02T09:00:00Z", ["2026-03-02", "2026-03-03", "2026-03-04"]],
  ["hour", "2026-03-04T11:59:00Z", ["2026-03-04T11:00:00Z", "2026-03-04T12:00:00Z"]],
  ["day", "2026-03-05T00:00:00Z", []]
] as const)("a timeline by %s since %s has the buckets %s", (bucket, since, expected) => {
  const now = utc("2026-03-04T12:34:56Z")
  assert.deepStrictEqual(bucketStarts(bucket, utc(since), now), expected.map(utc))
})

it("a timeline is bounded, and hours are kept as long as a timeline shows them", () => {
  const now = utc("2026-03-04T12:34:56Z")
  assert.strictEqual(bucketStarts("day", undefined, now).length, 90)
  assert.strictEqual(bucketStarts("hour", undefined, now).length, 48)
  assert.strictEqual(bucketStarts("day", 0, now).length, 3660)
  const hours = bucketStarts("hour", 0, now)
  assert.strictEqual(hours.length, 35 * 24)
  assert.strictEqual(hours[0], keptHoursSince(now))
})
