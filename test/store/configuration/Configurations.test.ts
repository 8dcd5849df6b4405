import { assert, describe, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { Configurations } from "../../../src/store/configuration/Configurations.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { databases } from "../Databases.ts"
import { change, event } from "../Fixtures.ts"

const keep = (hash: string) => Effect.flatMap(Configurations, (kept) => kept.keep({ hash, document: `"${hash}"` }))
const isKept = (hash: string) =>
  Effect.map(
    Effect.flatMap(Configurations, (kept) => kept.find(hash)),
    (found) => found !== undefined
  )

describe.each(databases)("Configurations in $name", ({ layer: fresh }) => {
  layer(fresh())((it) => {
    it.effect("finds what was kept, the newest text of it, and nothing else", () =>
      Effect.gen(function* () {
        const kept = yield* Configurations
        yield* kept.keep({ hash: "a", document: "1" })
        yield* kept.keep({ hash: "a", document: "2" })
        assert.deepStrictEqual({ ...(yield* kept.find("a")) }, { hash: "a", document: "2" })
        assert.isUndefined(yield* kept.find("b"))
      })
    )
    it.effect("removes old ones that no unfinished work is pinned to", () =>
      Effect.gen(function* () {
        yield* keep("idle")
        yield* keep("waiting")
        const work = { change: change(), configHash: "waiting", priority: 1, dueAt: 1 }
        const waiting = event({ work })
        yield* (yield* Receipts).store(waiting)
        assert.include([...(yield* (yield* Configurations).pinned)], "waiting")
        yield* TestClock.adjust(Duration.days(31))
        yield* keep("new")
        assert.deepStrictEqual(
          [yield* isKept("idle"), yield* isKept("waiting"), yield* isKept("new")],
          [false, true, true]
        )
        yield* (yield* Receipts).settle([waiting.id], { outcome: "executed" }, 2)
        yield* keep("newer")
        assert.isFalse(yield* isKept("waiting"))
      })
    )
    it.effect("lists unfinished deliveries with other configurations, oldest first, up to a limit", () =>
      Effect.gen(function* () {
        const [configurations, receipts] = [yield* Configurations, yield* Receipts]
        const withHash = (configHash: string) =>
          event({ work: { change: change(), configHash, priority: 1, dueAt: 1 } })
        const [one, same, two, done] = [withHash("old"), withHash("same"), withHash("older"), withHash("old")]
        yield* receipts.storeAll([one, same, two, done])
        yield* receipts.settle([done.id], { outcome: "executed" }, 2)
        const item = { workspace: "app", targetKey: "main:acme/app:pull_request:7" }
        assert.deepStrictEqual(yield* configurations.unfinished("same", 2), {
          items: [
            { id: one.id, ...item },
            { id: two.id, ...item }
          ],
          more: false
        })
        assert.deepInclude(yield* configurations.unfinished("same", 1), { more: true })
        yield* receipts.settle([one.id, same.id, two.id], { outcome: "executed" }, 2)
      })
    )
    it.effect("keeps 200 that nothing is pinned to", () =>
      Effect.gen(function* () {
        for (let n = 0; n < 205; n++) {
          yield* keep(`n${n}`)
          yield* TestClock.adjust(1)
        }
        assert.isFalse(yield* isKept("n1"))
        assert.isTrue(yield* isKept("n6"))
      })
    )
    it.effect("a delivery that counted as executed is revised, one that was cancelled is not", () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const [done, cancelled] = [event(), event()]
        yield* receipts.storeAll([done, cancelled])
        yield* receipts.settle([done.id], { outcome: "executed", runId: "r" }, 1)
        yield* receipts.settle([cancelled.id], { outcome: "cancelled" }, 1)
        yield* receipts.revise(
          [done.id, cancelled.id],
          { outcome: "failed", reason: verbatimReason("not published"), runId: "r" },
          2
        )
        const outcomes = yield* Effect.forEach([done, cancelled], ({ id }) => receipts.get(id))
        assert.deepStrictEqual(
          outcomes.map((stored) => [stored?.outcome, stored?.outcomeReason]),
          [
            ["failed", verbatimReason("not published")],
            ["cancelled", undefined]
          ]
        )
      })
    )
  })
})
