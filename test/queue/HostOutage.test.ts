/** Waiting times of a review for its host. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { outageLimit, retryDuringOutage } from "../../src/queue/HostOutage.ts"

const second = 1000
const hour = 3_600_000
const at = (now: number, more: Partial<Parameters<typeof retryDuringOutage>[0]> = {}) =>
  retryDuringOutage({ since: 0, now, limit: 24 * hour, notBefore: undefined, random: 0.5, ...more })

describe("a review that waits for its host", () => {
  it.each([
    [0, 5 * second],
    [10 * second, 15 * second],
    [60 * second, 90 * second],
    [hour, hour + 600 * second],
    [24 * hour - second, 24 * hour],
    [24 * hour, undefined],
    [30 * hour, undefined]
  ])("%d ms into the outage is tried at %s", (now, expected) => {
    expect(at(now)).toBe(expected)
  })

  it("waits at least as long as the host requests, and never past the limit", () => {
    expect(at(0, { notBefore: hour })).toBe(hour)
    expect(at(0, { notBefore: 48 * hour })).toBe(24 * hour)
  })

  it("comes to the limit in a bounded number of attempts, with no delay of zero", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1 }), (randoms) => {
        let attempts = 0
        for (let now = 0, next = at(0); next !== undefined; attempts++) {
          expect(next).toBeGreaterThan(now)
          now = next
          next = at(now, { random: randoms[attempts % randoms.length] ?? 0 })
        }
        expect(attempts).toBeLessThan(300)
      }),
      { numRuns: 20 }
    )
  })

  it("ends with queued_timeout_hours where work may expire, else after a day", () => {
    expect([outageLimit(true, 72), outageLimit(true, 0), outageLimit(false, 72)]).toEqual([
      72 * hour,
      24 * hour,
      24 * hour
    ])
  })
})
