import { expect, it } from "vitest"
import { backoffMillis } from "../../src/domain/Backoff.ts"

const base = { base_ms: 100, max_ms: 1000, jitter: false } as const

it.each([
  { kind: "constant", waits: [100, 100, 100, 100, 100] },
  { kind: "linear", waits: [100, 200, 300, 400, 500] },
  { kind: "exponential", waits: [100, 200, 400, 800, 1000] }
] as const)("$kind backoff grows as named and stays under its cap", ({ kind, waits }) => {
  expect(waits.map((_, index) => backoffMillis({ ...base, kind }, index + 1, 0.5))).toEqual(waits)
})

it("jitter takes away at most half", () => {
  const jittered = { ...base, kind: "constant", jitter: true } as const
  expect([0, 0.5, 0.999].map((random) => backoffMillis(jittered, 1, random))).toEqual([100, 75, 50])
})

it("many failures do not overflow", () => {
  expect(backoffMillis({ kind: "exponential", base_ms: 5000, max_ms: 60_000, jitter: false }, 5000, 0)).toBe(60_000)
})
