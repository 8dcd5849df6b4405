import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/Ids.ts"
import type { NewNotice } from "../../src/domain/Notice.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { Notices } from "../../src/store/Notices.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { databases } from "./Databases.ts"
import { event } from "./Fixtures.ts"

const notice = (key: string, channel = "ops"): NewNotice => ({
  id: newId(),
  key,
  channel,
  facts: { _tag: "webhook_silent", trigger: 'main \u0000 "quoted" 中文', lastAt: 1_700_000_000_000, hours: 24 }
})

describe.each(databases)("Notices in $name", ({ layer: fresh }) => {
  layer(fresh())((it) => {
    it.effect("stores a notice once per key and channel, also when two nodes store it together", () =>
      Effect.gen(function* () {
        const notices = yield* Notices
        const counts = yield* Effect.all(
          Array.from({ length: 8 }, () => notices.add([notice("once"), notice("once", "team")], 5)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(
          counts.reduce((sum, count) => sum + count, 0),
          2
        )
        assert.strictEqual(yield* notices.add([], 5), 0)
        const found = (yield* notices.list({ limit: 10 })).filter(({ key }) => key === "once")
        assert.deepStrictEqual(found.map(({ channel }) => channel).toSorted(), ["ops", "team"])
        assert.deepInclude(found[0], {
          status: "pending",
          attempts: 0,
          notBefore: undefined,
          createdAt: 5,
          updatedAt: 5
        })
        const [{ facts } = notice("")] = found
        assert.deepInclude(facts, { _tag: "webhook_silent", lastAt: 1_700_000_000_000 })
      })
    )

    it.effect("moves by compare-and-set, only for the sender", () =>
      Effect.gen(function* () {
        const notices = yield* Notices
        const row = notice("moves")
        yield* notices.add([row], 1)
        const frozen = yield* notices.takeOver
        const token = yield* notices.takeOver
        assert.isFalse(yield* notices.isSender(frozen))
        assert.isTrue(yield* notices.isSender(token))
        assert.isFalse(yield* notices.move(row.id, "pending", { status: "sending" }, frozen, 2))
        assert.isTrue(yield* notices.move(row.id, "pending", { status: "sending" }, token, 2))
        assert.isFalse(yield* notices.move(row.id, "pending", { status: "sending" }, token, 2))
        const refused = { status: "pending", notBefore: 50, error: verbatimReason("x"), isAttempt: true } as const
        assert.isTrue(yield* notices.move(row.id, "sending", refused, token, 3))
        const isOpen = (now: number) =>
          Effect.map(notices.open(now, 100), (open) => open.some(({ id }) => id === row.id))
        assert.isFalse(yield* isOpen(49))
        assert.isTrue(yield* isOpen(50))
        const [stored] = (yield* notices.list({ limit: 100 })).filter(({ id }) => id === row.id)
        assert.deepInclude(stored, { attempts: 1, notBefore: 50, error: verbatimReason("x"), updatedAt: 3 })
        yield* notices.move(row.id, "pending", { status: "sending" }, token, 60)
        yield* notices.move(row.id, "sending", { status: "sent" }, token, 61)
        assert.isFalse(yield* isOpen(1000))
        assert.deepStrictEqual(yield* notices.sentSince("ops", 61), [61])
        assert.deepStrictEqual(yield* notices.sentSince("ops", 62), [])
        const exit = yield* Effect.exit(notices.move(row.id, "sent", { status: "pending" }, token, 70))
        assert.strictEqual(exit._tag, "Failure")
      })
    )

    it.effect("returns deliveries that ended together as one, after a position", () =>
      Effect.gen(function* () {
        const [notices, receipts] = [yield* Notices, yield* Receipts]
        const [first, second, late, reviewed] = [event(), event(), event(), event()]
        for (const record of [first, second, late, reviewed]) yield* receipts.store(record)
        yield* receipts.settle(
          [second.id, first.id],
          { outcome: "failed", reason: verbatimReason("no model") },
          900_000
        )
        yield* receipts.settle([late.id], { outcome: "expired", reason: { _tag: "QueuedTimeout" } }, 900_000)
        yield* receipts.settle([reviewed.id], { outcome: "executed" }, 900_000)
        const all = yield* notices.ended({ endedAt: 900_000, eventId: "" }, 10)
        assert.deepStrictEqual(all, [
          { outcome: "failed", eventId: first.id, events: 2, endedAt: 900_000 },
          { outcome: "expired", eventId: late.id, events: 1, endedAt: 900_000 }
        ])
        assert.deepStrictEqual(yield* notices.ended({ endedAt: 900_000, eventId: "" }, 1), all.slice(0, 1))
        assert.deepStrictEqual(yield* notices.ended({ endedAt: 900_000, eventId: first.id }, 10), all.slice(1))
        assert.deepStrictEqual(yield* notices.ended({ endedAt: 900_001, eventId: "" }, 10), [])
      })
    )

    it.effect("keeps the position of the scan apart from the sender", () =>
      Effect.gen(function* () {
        const notices = yield* Notices
        yield* notices.setScannedTo(7)
        const token = yield* notices.takeOver
        yield* notices.setScannedTo(8)
        assert.strictEqual(yield* notices.scannedTo, 8)
        assert.isTrue(yield* notices.isSender(token))
      })
    )

    it.effect("lists by kind, status and channel, and removes what has ended only", () =>
      Effect.gen(function* () {
        const notices = yield* Notices
        const token = yield* notices.takeOver
        const [old, kept] = [notice("old", "prune"), notice("kept", "prune")]
        yield* notices.add([old, kept], 1)
        yield* notices.move(old.id, "pending", { status: "failed", error: verbatimReason("refused") }, token, 2)
        const filter = { channel: "prune", limit: 10 } as const
        const ids = (more: object) =>
          Effect.map(notices.list({ ...filter, ...more }), (rows) => rows.map(({ id }) => id))
        assert.deepStrictEqual(yield* ids({}), [kept.id, old.id])
        assert.deepStrictEqual(yield* ids({ status: "failed" }), [old.id])
        assert.deepStrictEqual(yield* ids({ kind: "review_failed" }), [])
        assert.deepStrictEqual(yield* ids({ kind: "webhook_silent", before: kept.id }), [old.id])
        yield* notices.prune({ maxCount: 1000, before: 2 })
        assert.deepStrictEqual(yield* ids({}), [kept.id, old.id])
        yield* notices.prune({ maxCount: 1000, before: 3 })
        assert.deepStrictEqual(yield* ids({}), [kept.id])
        yield* notices.prune({ maxCount: 0, before: 3 })
        assert.deepStrictEqual(yield* ids({}), [kept.id])
      })
    )
  })
})
