/** Ready entries that get a ticket, and the time of the scheduler's next scan. */
import { assert, it } from "@effect/vitest"
import { decideOffers } from "../../../actors/scheduling/QueueScan.ts"

const now = 100_000

it.each([
  { name: "nothing ready, nothing due", ready: [], offered: {}, due: undefined, ids: [], kept: {}, next: undefined },
  {
    name: "nothing ready, something due later",
    ready: [],
    offered: {},
    due: 140_000,
    ids: [],
    kept: {},
    next: 140_000
  },
  { name: "a new entry", ready: ["a"], offered: {}, due: undefined, ids: ["a"], kept: { a: now }, next: 130_000 },
  {
    name: "an entry named twice",
    ready: ["a", "a"],
    offered: {},
    due: undefined,
    ids: ["a"],
    kept: { a: now },
    next: 130_000
  },
  {
    name: "a recent ticket",
    ready: ["a"],
    offered: { a: 70_001 },
    due: undefined,
    ids: [],
    kept: { a: 70_001 },
    next: 100_001
  },
  {
    name: "a ticket of 30 seconds",
    ready: ["a"],
    offered: { a: 70_000 },
    due: undefined,
    ids: ["a"],
    kept: { a: now },
    next: 130_000
  },
  {
    name: "an entry that is ready no longer",
    ready: ["b"],
    offered: { a: 99_000 },
    due: undefined,
    ids: ["b"],
    kept: { b: now },
    next: 130_000
  },
  {
    name: "the due time before the next offer",
    ready: ["a"],
    offered: { a: 90_000 },
    due: 110_000,
    ids: [],
    kept: { a: 90_000 },
    next: 110_000
  },
  {
    name: "the next offer before the due time",
    ready: ["a", "b"],
    offered: { a: 90_000 },
    due: 150_000,
    ids: ["b"],
    kept: { a: 90_000, b: now },
    next: 120_000
  }
])("$name", ({ ready, offered, due, ids, kept, next }) => {
  const offers = decideOffers(ready, new Map(Object.entries(offered)), due, now)
  assert.deepStrictEqual(offers.entryIds, ids)
  assert.deepStrictEqual(Object.fromEntries(offers.offeredAt), kept)
  assert.strictEqual(offers.nextScanAt, next)
})
