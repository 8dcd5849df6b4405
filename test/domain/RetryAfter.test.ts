/** Values of Retry-After, and that an invalid one neither ends the waiting nor makes it endless. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { maxRetryAfterMillis, parseRetryAfter } from "../../src/domain/RetryAfter.ts"

const now = Date.UTC(2026, 0, 2, 3, 4, 5)

describe("parseRetryAfter", () => {
  it.each([
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after": " 7 " }, 7000],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after-ms": "12.25" }, 13],
    [{ "retry-after-ms": "-1", "retry-after": "9" }, 9000],
    [{ "retry-after": "Fri, 02 Jan 2026 03:04:15 GMT" }, 10_000],
    [{ "retry-after": "Friday, 02-Jan-26 03:04:15 GMT" }, 10_000],
    [{ "retry-after": "Fri Jan  2 03:04:15 2026" }, 10_000],
    [{ "retry-after": "Fri, 02 Jan 2026 03:00:00 GMT" }, 0],
    [{ "retry-after": "999999999999999" }, maxRetryAfterMillis],
    [{ "retry-after": "Fri, 02 Jan 2099 03:00:00 GMT" }, maxRetryAfterMillis],
    ...["-5", "-0", "+5", "1e3", "0x10", "5s", "5,5", "5, 7", "Infinity", "NaN", "soon", "2026-01-02", "", " "].map(
      (value) => [{ "retry-after": value }, undefined] as const
    ),
    [{ "retry-after": "Fri, 99 Foo 2026 03:04:15 GMT" }, undefined],
    [{}, undefined],
    [undefined, undefined]
  ] satisfies ReadonlyArray<readonly [Record<string, string> | undefined, number | undefined]>)(
    "%j is %s",
    (headers, expected) => {
      expect(parseRetryAfter(headers, now)).toBe(expected)
    }
  )

  it("is a whole number within its bounds, or nothing, whatever is sent", () => {
    const value = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.integer().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString())
    )
    fc.assert(
      fc.property(value, fc.option(value), (seconds, millis) => {
        const headers = { "retry-after": seconds, ...(millis === null ? {} : { "retry-after-ms": millis }) }
        const wait = parseRetryAfter(headers, now)
        if (wait === undefined) return
        expect(Number.isSafeInteger(wait)).toBe(true)
        expect(wait).toBeGreaterThanOrEqual(0)
        expect(wait).toBeLessThanOrEqual(maxRetryAfterMillis)
      })
    )
  })

  it("never waits less than the requested seconds", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400_000 }), (millis) => {
        expect(parseRetryAfter({ "retry-after": (millis / 1000).toFixed(3) }, now)).toBe(millis)
      })
    )
  })

  it("comes back at the second that a date names", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400 }), (seconds) => {
        const date = new Date(now + seconds * 1000).toUTCString()
        expect(parseRetryAfter({ "retry-after": date }, now)).toBe(seconds * 1000)
      })
    )
  })

  it("ignores what is negative", () => {
    fc.assert(
      fc.property(fc.double({ max: -Number.MIN_VALUE, noNaN: true }), (seconds) => {
        expect(parseRetryAfter({ "retry-after": String(seconds), "retry-after-ms": String(seconds) }, now)).toBe(
          undefined
        )
      })
    )
  })
})
