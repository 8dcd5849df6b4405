import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PublisherToken } from "../../src/domain/FencingToken.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { databases } from "./Databases.ts"
import { publication } from "./Fixtures.ts"

describe.each(databases)("Outbox in $name", ({ layer: fresh }) => {
  layer(fresh())((it) => {
    it.effect("gives back rows in the order of sending, once per operation", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const [second, first] = [publication({ targetKey: "order", position: 1 }), publication({ targetKey: "order" })]
        const later = publication({ targetKey: "order", position: 1, notBefore: 9 })
        yield* outbox.add([second, first], 1)
        yield* outbox.add([later, { ...first, id: "other", channel: "elsewhere" }], 2)
        const open = yield* outbox.open("order")
        assert.deepStrictEqual(
          open.map((row) => row.id),
          [first.id, second.id, later.id]
        )
        assert.deepStrictEqual(open[2], {
          ...later,
          hostId: undefined,
          url: undefined,
          error: undefined,
          ignoredDismissals: undefined
        })
        yield* outbox.add([], 3)
      })
    )

    it.effect("moves by compare-and-set and counts attempts", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const row = publication({ targetKey: "moves" })
        yield* outbox.add([row], 1)
        const token = yield* outbox.takeOver("moves", 1)
        assert.isTrue(yield* outbox.move(row.id, "pending", { status: "sending" }, token, 2))
        assert.isFalse(yield* outbox.move(row.id, "pending", { status: "sending" }, token, 2))
        const refused = { status: "pending", notBefore: 50, error: "429", hostId: "h", isAttempt: true } as const
        yield* outbox.move(row.id, "sending", refused, token, 3)
        assert.deepInclude((yield* outbox.open("moves"))[0], { attempts: 1, notBefore: 50, error: "429", hostId: "h" })
        yield* outbox.move(row.id, "pending", { status: "sending" }, token, 4)
        assert.deepInclude((yield* outbox.open("moves"))[0], {
          status: "sending",
          attempts: 1,
          notBefore: undefined,
          error: undefined,
          hostId: "h"
        })
        assert.include(yield* outbox.targets, "moves")
        yield* outbox.move(row.id, "sending", { status: "sent", url: "https://git.example/1" }, token, 5)
        assert.deepStrictEqual(yield* outbox.open("moves"), [])
        assert.notInclude(yield* outbox.targets, "moves")
        assert.deepInclude(yield* outbox.lastSent("moves", row.channel, "Summary", "another run"), {
          hostId: "h",
          url: "https://git.example/1"
        })
        assert.isUndefined(yield* outbox.lastSent("moves", row.channel, "Review", "another run"))
        assert.isFalse(yield* outbox.move("unknown", "pending", { status: "dropped" }, token, 6))
      })
    )

    it.effect("keeps dismissals that were not obeyed", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const ignoredDismissals = [{ fp: "f".repeat(32), file: "src/ä b.ts", by: ["eve", "dana"] }]
        const [row, found] = [
          publication({ runId: "sees", targetKey: "seen" }),
          publication({ runId: "saw", targetKey: "seen", ignoredDismissals })
        ]
        yield* outbox.add([row, found], 1)
        const token = yield* outbox.takeOver("seen", 1)
        yield* outbox.move(row.id, "pending", { status: "sending" }, token, 2)
        yield* outbox.move(row.id, "sending", { status: "sent", ignoredDismissals }, token, 3)
        yield* outbox.move(found.id, "pending", { status: "dropped" }, token, 4)
        for (const { runId } of [row, found])
          assert.deepStrictEqual((yield* outbox.ofRun(runId))[0]?.ignoredDismissals, ignoredDismissals)
      })
    )

    it.effect("a publisher whose target was taken over changes nothing", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const [row, other] = [publication({ targetKey: "taken" }), publication({ targetKey: "left" })]
        yield* outbox.add([row, other], 1)
        const frozen = yield* outbox.takeOver("taken", 1)
        const elsewhere = yield* outbox.takeOver("left", 1)
        assert.isTrue(yield* outbox.holds("taken", frozen))
        const newer = yield* outbox.takeOver("taken", 2)
        assert.isAbove(newer, frozen)
        assert.isFalse(yield* outbox.holds("taken", frozen))
        assert.isFalse(yield* outbox.move(row.id, "pending", { status: "sending" }, frozen, 3))
        assert.deepInclude((yield* outbox.open("taken"))[0], { status: "pending", attempts: 0 })
        assert.isTrue(yield* outbox.move(row.id, "pending", { status: "sending" }, newer, 3))
        assert.isTrue(yield* outbox.move(other.id, "pending", { status: "sending" }, elsewhere, 3))
      })
    )

    it.effect("counts the publishers of a target that came to no end of a row", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        assert.strictEqual(yield* outbox.starts("counted"), 0)
        const first = yield* outbox.takeOver("counted", 1)
        assert.strictEqual(yield* outbox.starts("counted"), 1)
        const second = yield* outbox.takeOver("counted", 2)
        assert.strictEqual(yield* outbox.starts("counted"), 2)
        yield* outbox.progressed("counted", first)
        assert.strictEqual(yield* outbox.starts("counted"), 2)
        yield* outbox.progressed("counted", second)
        assert.strictEqual(yield* outbox.starts("counted"), 0)
        yield* outbox.takeOver("counted", 3)
        assert.strictEqual(yield* outbox.starts("counted"), 1)
      })
    )

    it.effect("an illegal transition is a defect", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const exit = yield* Effect.exit(outbox.move("any", "sent", { status: "pending" }, PublisherToken.make(1), 1))
        assert.strictEqual(exit._tag === "Failure" ? exit.cause.reasons[0]?._tag : undefined, "Die")
      })
    )
  })
})
