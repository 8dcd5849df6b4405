/** A delivery is known however long ago it came, whether its key is written or still held, and whatever died in between. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/Store.ts"
import { event } from "./Fixtures.ts"
import { folder } from "./Folder.ts"

const keyed = (n: number) => event({ deliveryKey: `gitea:delivery-${n}` })
const storeAll = (from: number, to: number) =>
  Effect.flatMap(Receipts, (receipts) =>
    Effect.forEach(
      Array.from({ length: to - from }, (_, n) => keyed(from + n)),
      receipts.store,
      { concurrency: "unbounded" }
    )
  )
const tags = (answers: ReadonlyArray<{ readonly _tag: string }>) => [...new Set(answers.map(({ _tag }) => _tag))]
const written = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ count: number }>`SELECT COUNT(*) AS count FROM delivery_keys`, (rows) => rows[0]?.count)
)
const opened = (path: string) => Layer.fresh(Store.layerSqlite({ path: join(path, "records.db"), migrate: "auto" }))

it.effect("is known before its key is written, after, and in the next process", () =>
  Effect.gen(function* () {
    const path = yield* folder
    yield* Effect.gen(function* () {
      assert.deepStrictEqual(tags(yield* storeAll(0, 4000)), ["Stored"])
      assert.strictEqual(yield* written, 0)
      assert.deepStrictEqual(tags(yield* storeAll(0, 4000)), ["Duplicate"])
      assert.deepStrictEqual(tags(yield* storeAll(4000, 6000)), ["Stored"])
      assert.isAtLeast((yield* written) ?? 0, 4096)
      assert.deepStrictEqual(tags(yield* storeAll(0, 6000)), ["Duplicate"])
    }).pipe(Effect.provide(opened(path)))
    // What was held when the first process ended is read back from the events themselves.
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
    assert.isAtMost((yield* written) ?? 0, 10)
    assert.deepStrictEqual(tags(yield* storeAll(4190, 4200)), ["Duplicate"])
    assert.deepStrictEqual(tags(yield* storeAll(0, 4190)), ["Stored"])
  }).pipe(Effect.provide(Layer.fresh(Store.layerMemory)))
)

it.effect("is not mistaken for another whose number an index row still names", () =>
  Effect.gen(function* () {
    const receipts = yield* Receipts
    const sql = yield* SqlClient.SqlClient
    yield* storeAll(0, 4100)
    // As if the process had died between removing the events and removing their keys.
    yield* sql`DELETE FROM events WHERE delivery_key = ${"gitea:delivery-7"}`
    assert.deepStrictEqual(yield* receipts.store(keyed(7)), { _tag: "Stored" })
    assert.strictEqual((yield* receipts.store(keyed(7)))._tag, "Duplicate")
  }).pipe(Effect.provide(Layer.fresh(Store.layerMemory)))
)
