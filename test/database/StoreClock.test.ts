import { describe, expect, it } from "vitest"
import { adjust } from "../../src/database/StoreClock.ts"

describe("offset of the clock after a reading", () => {
  it.each<[what: string, current: number | undefined, reading: Parameters<typeof adjust>[1], expected: number]>([
    ["the first reading is used", undefined, { offset: 500, error: 400 }, 500],
    ["a reading within its error keeps the offset", 1000, { offset: 1300, error: 400 }, 1000],
    ["a reading within the tolerance keeps the offset", 1000, { offset: 1049, error: 0 }, 1000],
    ["a database that moved forward moves it", 1000, { offset: 3_601_000, error: 5 }, 3_601_000],
    ["a database that moved back moves it", 1000, { offset: -3_599_000, error: 5 }, -3_599_000]
  ])("%s", (_, current, reading, expected) => {
    expect(adjust(current, reading)).toBe(expected)
  })
})
