/**
 * Stores who gets no direct messages about reviews: a person of a chat platform, by the connection over which the person decided it. The table is
 * `direct_opt_outs`.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { StoreError } from "../database/StoreError.ts"
import { unavailable } from "../database/sql/StoreFailure.ts"
import type { ChatPrincipal } from "../domain/ChatRequest.ts"

export class DirectOptOuts extends Context.Service<
  DirectOptOuts,
  {
    /** May be repeated. */
    readonly add: (connection: string, person: ChatPrincipal, now: number) => Effect.Effect<void, StoreError>
    /** May be repeated. */
    readonly remove: (connection: string, person: ChatPrincipal) => Effect.Effect<void, StoreError>
    readonly has: (connection: string, person: ChatPrincipal) => Effect.Effect<boolean, StoreError>
  }
>()("aicr/store/DirectOptOuts") {}

export const layer: Layer.Layer<DirectOptOuts, never, SqlClient.SqlClient> = Layer.effect(
  DirectOptOuts,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const isRow = (connection: string, { id, type }: ChatPrincipal) =>
      sql.and([sql`connection = ${connection}`, sql`sender_type = ${type}`, sql`sender = ${id}`])
    return DirectOptOuts.of({
      add: (connection, { id, type }, now) =>
        sql`INSERT INTO direct_opt_outs ${sql.insert({ connection, sender_type: type, sender: id, since: now })}
          ON CONFLICT (connection, sender_type, sender) DO NOTHING`.pipe(
          Effect.asVoid,
          unavailable("direct_opt_outs.add")
        ),
      remove: (connection, person) =>
        sql`DELETE FROM direct_opt_outs WHERE ${isRow(connection, person)}`.pipe(
          Effect.asVoid,
          unavailable("direct_opt_outs.remove")
        ),
      has: (connection, person) =>
        sql`SELECT sender FROM direct_opt_outs WHERE ${isRow(connection, person)}`.pipe(
          Effect.map((rows) => rows.length > 0),
          unavailable("direct_opt_outs.has")
        )
    })
  })
)
