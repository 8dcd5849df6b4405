import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../../src/domain/Ids.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { databases } from "../Databases.ts"
import { ignored } from "../Fixtures.ts"

describe.each(databases)("links of replays in $name", ({ layer }) => {
  it.effect(
    "name the original and the stored repetitions, the newest first, and are removed with their deliveries",
    () =>
      Effect.gen(function* () {
        const receipts = yield* Receipts
        const sql = yield* SqlClient.SqlClient
        const [original, first, second] = [1, 2, 3].map((at) => ignored({ receivedAt: at }))
        assert(original !== undefined && first !== undefined && second !== undefined)
        yield* receipts.storeAll([original, first, second])
        for (const id of [first.id, second.id, newId()]) yield* receipts.addReplay(id, original.id)
        const read = (id: string, limit = 10) =>
          Effect.map(receipts.replays(id, limit), ({ replayOf, replays }) => [replayOf, replays.map((one) => one.id)])
        // The third one was not stored: its process ended before.
        assert.deepStrictEqual(yield* read(original.id), [undefined, [second.id, first.id]])
        assert.deepStrictEqual(yield* read(original.id, 1), [undefined, [second.id]])
        assert.deepStrictEqual(yield* read(first.id), [original.id, []])
        const links = Effect.map(sql`SELECT event_id FROM delivery_replays`, (rows) => rows.length)
        yield* receipts.prune({ maxCount: 10, before: Date.now() + 60_000 })
        assert.strictEqual(yield* links, 0)
      }).pipe(Effect.provide(layer()))
  )

  it.effect("of a delivery that is being stored are kept", () =>
    Effect.gen(function* () {
      const receipts = yield* Receipts
      const sql = yield* SqlClient.SqlClient
      yield* receipts.addReplay(newId(), newId())
      yield* receipts.prune({ maxCount: 10, before: Date.now() - 60_000 })
      assert.lengthOf(yield* sql`SELECT event_id FROM delivery_replays`, 1)
    }).pipe(Effect.provide(layer()))
  )
})
