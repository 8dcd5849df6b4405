/**
 * Stores views that people saved: a page with the filters of its list, under a name. Each person has views of their own, and gets no others.
 * The table is `saved_views`.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { StoreError } from "../database/StoreError.ts"
import { selectAs, unavailable } from "../database/sql/StoreFailure.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"

/** Maximum number of views of a person. */
export const maxViews = 50

export const SavedView = record({
  id: Field.text,
  /** The person, by the way of the login and the name. */
  owner: Field.outsideText,
  /** Path of the page. */
  page: Field.text,
  name: Field.outsideText,
  /** Filters as in the address of the page, without the question mark. */
  query: Field.outsideText,
  savedAt: Field.time
})
export type SavedView = RecordValues<typeof SavedView>

export class SavedViews extends Context.Service<
  SavedViews,
  {
    /** Returns the views of a person by page and name. */
    readonly list: (owner: string) => Effect.Effect<ReadonlyArray<SavedView>, StoreError>
    /** Stores a view, in place of that of the same page and name. Undefined if the person has the maximum number of others. */
    readonly save: (view: SavedView) => Effect.Effect<SavedView | undefined, StoreError>
    /** Removes a view of this person. Returns whether there was one. */
    readonly remove: (owner: string, id: string) => Effect.Effect<boolean, StoreError>
  }
>()("aicr/store/SavedViews") {}

export const layer: Layer.Layer<SavedViews, never, SqlClient.SqlClient> = Layer.effect(
  SavedViews,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return SavedViews.of({
      list: (owner) =>
        selectAs(
          SavedView,
          "views.list",
          sql`SELECT * FROM saved_views WHERE owner = ${owner} ORDER BY page, name`
        ).pipe(unavailable("views.list")),
      save: Effect.fnUntraced(
        function* (view) {
          const { name, owner, page, query, savedAt } = view
          const [replaced] = yield* selectAs(
            SavedView,
            "views.save",
            sql`
              UPDATE saved_views SET query = ${query}, saved_at = ${savedAt}
              WHERE owner = ${owner} AND page = ${page} AND name = ${name} RETURNING *`
          )
          if (replaced !== undefined) return replaced
          const [{ count } = { count: 0 }] = yield* sql<{ count: number }>`
            SELECT COUNT(*) AS count FROM saved_views WHERE owner = ${owner}`
          if (Number(count) >= maxViews) return undefined
          yield* sql`INSERT INTO saved_views ${sql.insert(SavedView.toRow(view))}`
          return view
        },
        sql.withTransaction,
        unavailable("views.save")
      ),
      remove: (owner, id) =>
        sql`DELETE FROM saved_views WHERE owner = ${owner} AND id = ${id} RETURNING id`.pipe(
          Effect.map((rows) => rows.length > 0),
          unavailable("views.remove")
        )
    })
  })
)
