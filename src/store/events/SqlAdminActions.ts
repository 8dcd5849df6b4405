/** Stores actions of administrators in the table `admin_actions`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { oncePer } from "../../database/sql/OncePer.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { firstIdAt } from "../../domain/Ids.ts"
import { direction, idConditions } from "../../database/sql/ListOrder.ts"
import { AdminAction, AdminActions, maxAdminActions, surplusActions } from "../AdminActions.ts"

export const layer: Layer.Layer<AdminActions, never, SqlClient.SqlClient> = Layer.effect(
  AdminActions,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const prune = (before: number, maxCount: number) =>
      deleteInSteps(
        (step) => sql`
          DELETE FROM admin_actions WHERE id IN (
            SELECT id FROM admin_actions WHERE at < ${before}
              OR id <= (SELECT id FROM admin_actions ORDER BY id DESC LIMIT 1 OFFSET ${maxCount})
            ORDER BY id LIMIT ${step})
          RETURNING id`
      )
    const trim = oncePer(surplusActions, prune(0, maxAdminActions))
    return AdminActions.of({
      start: (action) =>
        sql`INSERT INTO admin_actions ${sql.insert(AdminAction.toRow(action))}`.pipe(
          Effect.andThen(trim),
          unavailable("admin_actions.start")
        ),
      finish: (id, outcome) =>
        sql`UPDATE admin_actions SET outcome = ${outcome} WHERE id = ${id}`.pipe(
          Effect.asVoid,
          unavailable("admin_actions.finish")
        ),
      discard: (id) =>
        sql`DELETE FROM admin_actions WHERE id = ${id}`.pipe(Effect.asVoid, unavailable("admin_actions.discard")),
      list: ({ action, actor, limit, outcome, since, ...range }) =>
        selectAs(
          AdminAction,
          "admin_actions.list",
          sql`
          SELECT * FROM admin_actions WHERE ${sql.and([
            sql`1 = 1`,
            ...(actor === undefined ? [] : [sql`actor = ${actor}`]),
            ...(action === undefined ? [] : [sql`action = ${action}`]),
            ...(outcome === undefined ? [] : [sql`outcome = ${outcome}`]),
            ...(since === undefined ? [] : [sql`id >= ${firstIdAt(since)}`]),
            ...idConditions(sql, range)
          ])} ORDER BY id ${direction(sql, range)} LIMIT ${limit}`
        ).pipe(unavailable("admin_actions.list")),
      prune: ({ before, maxCount }) => prune(before, maxCount).pipe(unavailable("admin_actions.prune"))
    })
  })
)
