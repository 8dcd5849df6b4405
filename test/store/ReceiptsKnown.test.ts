/** Duplicates of a delivery are detected at any age, also in the next process, until retention has removed its record. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { join } from "node:path"
import { DeliveryKey } from "../../src/domain/Keys.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { event } from "./Fixtures.ts"
import { folder } from "./Folder.ts"

const keyed = (n: number) => event({ deliveryKey: DeliveryKey.make(`gitea:delivery-${n}`) })
const storeAll = (from: number, to: number) =>
  Effect.flatMap(Receipts, (receipts) =>
    Effect.forEach(
      Array.from({ length: to - from }, (_, n) => keyed(from + n)),
      receipts.store,
      { concurrency: "unbounded" }
    )
  )
const tags = (answers: ReadonlyArray<{ readonly _tag: string }>) => [...new Set(answers.map(({ _tag }) => _tag))]
const opened = (path: string) => Layer.fresh(Store.layerSqlite({ path: join(path, "records.db"), migrate: "auto" }))

it.effect("is known, and in the next process", () =>
  Effect.gen(function* () {
    const path = yield* folder
    yield* Effect.gen(function* () {
      assert.deepStrictEqual(tags(yield* storeAll(0, 4000)), ["Stored"])
      assert.deepStrictEqual(tags(yield* storeAll(0, 4000)), ["Duplicate"])
      assert.deepStrictEqual(tags(yield* storeAll(4000, 6000)), ["Stored"])
      assert.deepStrictEqual(tags(yield* storeAll(0, 6000)), ["Duplicate"])
    }).pipe(Effect.provide(opened(path)))
    yield* Effect.gen(function* () {
      assert.deepStrictEqual(tags(yield* storeAll(0, 6000)), ["Duplicate"])
      assert.deepStrictEqual(tags(yield* storeAll(6000, 6010)), ["Stored"])
    }).pipe(Effect.provide(opened(path)))
  })
)

it.effect("is new again once retention has removed its record", () =>
  Effect.gen(function* () {
    const receipts = yield* Receipts
    const records = Array.from({ length: 4200 }, (_, n) => keyed(n))
    yield* Effect.forEach(records, receipts.store, { concurrency: "unbounded" })
    yield* receipts.settle(
      records.map(({ id }) => id),
      { outcome: "executed" },
      5
    )
    assert.strictEqual(yield* receipts.prune({ maxCount: 10, before: 0 }), 4190)
    assert.deepStrictEqual(tags(yield* storeAll(4190, 4200)), ["Duplicate"])
    assert.deepStrictEqual(tags(yield* storeAll(0, 4190)), ["Stored"])
  }).pipe(Effect.provide(Layer.fresh(Store.layerMemory)))
)
