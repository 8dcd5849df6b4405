import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
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
        assert.deepStrictEqual(open[2], { ...later, hostId: undefined, url: undefined, error: undefined })
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
        yield* outbox.move(row.id, "sending", { status: "pending", notBefore: 50, error: "429", hostId: "h" }, token, 3)
        assert.deepInclude((yield* outbox.open("moves"))[0], { attempts: 1, notBefore: 50, error: "429", hostId: "h" })
        yield* outbox.move(row.id, "pending", { status: "sending" }, token, 4)
        assert.deepInclude((yield* outbox.open("moves"))[0], {
          status: "sending",
          attempts: 2,
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

    it.effect("an illegal transition is a defect", () =>
      Effect.gen(function* () {
        const outbox = yield* Outbox
        const exit = yield* Effect.exit(outbox.move("any", "sent", { status: "pending" }, 1, 1))
        assert.strictEqual(exit._tag === "Failure" ? exit.cause.reasons[0]?._tag : undefined, "Die")
      })
    )
  })
})
