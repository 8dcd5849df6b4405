/** Tests that what people did to comments of the service is read from deliveries, however many there are. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { publishedRecords } from "../../../actors/publishing/PublishedRecords.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { change, ignored } from "../../store/Fixtures.ts"

layer(Layer.fresh(Store.layerMemory))("what people did to comments", (it) => {
  it.effect("is not crowded out by a flood of deliveries of others", () =>
    Effect.gen(function* () {
      const touch = (sender: string, action: string, receivedAt: number, over: object = {}) =>
        ignored({ reason: "own_event", action, receivedAt, repo: "acme/app", facts: { number: 7, sender }, ...over })
      const { storeAll } = yield* Receipts
      yield* storeAll([
        touch("ann", "deleted", 1),
        touch("ben", "update", 2),
        touch("cid", "deleted", 3, { facts: { number: 8, sender: "cid" } }),
        touch("dan", "deleted", 3, { trigger: "other" }),
        touch("eli", "deleted", 3, { reason: "unsupported_action" })
      ])
      for (let n = 0; n < 6; n++)
        yield* storeAll(Array.from({ length: 400 }, (_, at) => touch("mal", "edited", 10 + n * 400 + at)))
      const { touched } = yield* publishedRecords
      assert.deepStrictEqual(yield* touched(change()), [
        { by: "mal", action: "edited", at: 2409 },
        { by: "ben", action: "edited", at: 2 },
        { by: "ann", action: "deleted", at: 1 }
      ])
    })
  )
})
