import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/Ids.ts"
import { maxViews, SavedViews } from "../../src/store/SavedViews.ts"
import type { SavedView } from "../../src/store/SavedViews.ts"
import { databases } from "./Databases.ts"

const view = (over: Partial<SavedView> = {}): SavedView => ({
  id: newId(),
  owner: "password:root",
  page: "/runs",
  name: "failed",
  query: "status=failed",
  savedAt: 1,
  ...over
})

describe.each(databases)("saved views in $name", ({ layer }) => {
  it.effect("belong to one person, and one of the same page and name is replaced", () =>
    Effect.gen(function* () {
      const { list, remove, save } = yield* SavedViews
      const first = view()
      yield* save(first)
      const other = view({ owner: "oidc:root", query: "q=secret" })
      yield* save(other)
      const replaced = yield* save(view({ query: "status=dead", savedAt: 2 }))
      assert.deepStrictEqual(replaced, { ...first, query: "status=dead", savedAt: 2 })
      assert.deepStrictEqual(yield* list("password:root"), [replaced ?? first])
      assert.isFalse(yield* remove("password:root", other.id))
      assert.isTrue(yield* remove("oidc:root", other.id))
      assert.deepStrictEqual(yield* list("oidc:root"), [])
    }).pipe(Effect.provide(layer()))
  )

  it.effect("are limited per person; one of them can still be replaced", () =>
    Effect.gen(function* () {
      const { list, save } = yield* SavedViews
      for (let at = 0; at < maxViews; at++) yield* save(view({ name: `view ${at}` }))
      assert.isUndefined(yield* save(view({ name: "one more" })))
      assert.isDefined(yield* save(view({ name: "view 0", query: "" })))
      assert.isDefined(yield* save(view({ owner: "oidc:dana" })))
      assert.strictEqual((yield* list("password:root")).length, maxViews)
    }).pipe(Effect.provide(layer()))
  )
})
