import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as DataLock from "../../../src/database/sqlite/DataLock.ts"
import { folder } from "../../store/Folder.ts"

describe("DataLock", () => {
  it.effect("lets one in at a time and names the folder to the other", () =>
    Effect.gen(function* () {
      const data = join(yield* folder, "data")
      const lock = DataLock.layer(data)
      const second = Effect.flip(Effect.scoped(Layer.build(Layer.fresh(lock))))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(Layer.fresh(lock))
          const error = yield* second
          assert.strictEqual(error.reason, "unavailable")
          assert.include(error.message, `Another aicr process uses the data folder ${data}`)
        })
      )
      yield* Effect.scoped(Layer.build(Layer.fresh(lock)))
    })
  )
})
