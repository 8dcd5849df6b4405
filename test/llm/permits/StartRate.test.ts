/** The start of the next request to a provider. */
import { expect, it } from "vitest"
import { StartRate } from "../../../src/llm/permits/StartRate.ts"

const now = 1_000_000

/** Returns the start of each of `count` requests that arrive now. */
const starts = (rate: StartRate, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, at) => {
    const start = Math.max(now, rate.startAt())
    rate.started(start, at < count - 1)
    return start - now
  })

it.each([
  { name: "no rate, no pause", rps: undefined, pause: 0, expected: [0, 100, 200] },
  { name: "one per second", rps: 1, pause: 0, expected: [0, 1000, 2000] },
  { name: "four per second: a burst of one second's worth", rps: 4, pause: 0, expected: [0, 0, 0, 0, 250, 500] },
  { name: "less than one per second", rps: 0.5, pause: 0, expected: [0, 2000, 4000] },
  { name: "a pause without a rate", rps: undefined, pause: 5000, expected: [5000, 5100, 5200] },
  { name: "a pause with a rate", rps: 1, pause: 5000, expected: [5000, 6000] },
  { name: "a pause above the upper bound", rps: undefined, pause: 3_600_000, expected: [900_000] }
])("$name", ({ rps, pause, expected }) => {
  const rate = new StartRate()
  rate.set(rps)
  if (pause > 0) rate.pause(pause, now, "requested")
  expect(starts(rate, expected.length)).toEqual(expected)
})

it("a shorter pause does not end a longer one, and the rest of it is known", () => {
  const rate = new StartRate()
  rate.pause(5000, now, "requested")
  rate.pause(1000, now, "requested")
  expect(rate.pauseMillis(now + 2000)).toBe(3000)
  expect(rate.pauseMillis(now + 6000)).toBe(0)
})
