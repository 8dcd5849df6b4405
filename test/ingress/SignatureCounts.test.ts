/** Rejected signatures are stored in few writes, also while the store is unavailable for some time. */
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { Context, Effect } from "effect"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { StoreError } from "../../src/database/StoreError.ts"
import { SignatureCounts } from "../../src/ingress/SignatureCounts.ts"
import { RejectedSignatures } from "../../src/store/RejectedSignatures.ts"
import type { RejectedSignature } from "../../src/store/RejectedSignatures.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const makeStore = () => {
  const writes: Array<ReadonlyArray<RejectedSignature>> = []
  const state = { isAvailable: true }
  const error = new StoreError({ reason: "unavailable", operation: "add", why: verbatimReason("unavailable") })
  const context = Context.make(RejectedSignatures, {
    add: (items) =>
      Effect.suspend(() => {
        if (!state.isAvailable) return Effect.fail(error)
        writes.push(items)
        return Effect.void
      }),
    list: () => Effect.succeed([]),
    prune: () => Effect.succeed(0)
  })
  return { writes, state, counts: new SignatureCounts(context) }
}

const now = Date.UTC(2026, 0, 1, 12, 30)
const total = (writes: ReadonlyArray<ReadonlyArray<RejectedSignature>>): number =>
  writes.flat().reduce((sum, { counts }) => sum + counts.loopback + counts.private + counts.public, 0)

it("a flood of twenty seconds is stored in at most one write per five seconds", async () => {
  const { counts, writes } = makeStore()
  for (let at = 0; at < 2000; at++) {
    counts.count("github", ["a", "b"], "203.0.113.9", now + at * 10)
    await vi.advanceTimersByTimeAsync(10)
  }
  await vi.advanceTimersByTimeAsync(5000)
  expect(total(writes)).toBe(4000)
  expect(writes.length).toBeLessThanOrEqual(6)
  for (const items of writes) expect(items.map(({ trigger }) => trigger)).toEqual(["a", "b"])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(writes.length).toBeLessThanOrEqual(6)
})

it("what a write could not store is stored with the next one, and the rest at the stop", async () => {
  const { counts, state, writes } = makeStore()
  state.isAvailable = false
  counts.count("github", ["a"], "10.0.0.1", now)
  await vi.advanceTimersByTimeAsync(1000)
  expect(writes).toEqual([])
  state.isAvailable = true
  await vi.advanceTimersByTimeAsync(5000)
  expect(writes).toEqual([[expect.objectContaining({ counts: { loopback: 0, private: 1, public: 0 }, lastAt: now })]])
  counts.count("github", ["a"], "::1", now + 1)
  await Effect.runPromise(counts.close)
  expect(total(writes)).toBe(2)
})

it("while the store is unavailable the counts of a day are kept", async () => {
  const { counts, state, writes } = makeStore()
  state.isAvailable = false
  for (let hours = 0; hours < 100; hours++) {
    counts.count("github", ["a"], "::1", now + hours * 3_600_000)
    await vi.advanceTimersByTimeAsync(6000)
  }
  state.isAvailable = true
  await Effect.runPromise(counts.close)
  expect(total(writes)).toBe(24)
})
