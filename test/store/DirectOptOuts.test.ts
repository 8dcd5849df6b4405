import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { DirectOptOuts } from "../../src/store/DirectOptOuts.ts"
import { databases } from "./Databases.ts"

const ada = { type: "slack_user", id: "UADA" } as const

describe.each(databases)("people who get no direct messages, in $name", ({ layer }) => {
  it.effect("are those of one connection, until they start them again", () =>
    Effect.gen(function* () {
      const { add, has, remove } = yield* DirectOptOuts
      yield* add("slack", ada, 1)
      yield* add("slack", ada, 2)
      assert.isTrue(yield* has("slack", ada))
      for (const [connection, person] of [
        ["other", ada],
        ["slack", { ...ada, id: "UBOB" }],
        ["slack", { ...ada, type: "feishu_open_id" }]
      ] as const)
        assert.isFalse(yield* has(connection, person))
      yield* remove("slack", ada)
      yield* remove("slack", ada)
      assert.isFalse(yield* has("slack", ada))
    }).pipe(Effect.provide(layer()))
  )
})
