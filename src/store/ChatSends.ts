/** Counts the persons to whom an application of a chat platform sent messages on a day, for all nodes. The table is `chat_sends`. */
import { Context, Effect, Layer } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import { unavailable } from "../database/sql/StoreFailure.ts"

export class ChatSends extends Context.Service<
  ChatSends,
  {
    /** Adds persons unless the day would have more than `limit`; returns whether it did. `day`: `2026-01-31`. */
    readonly take: (app: string, day: string, persons: number, limit: number) => Effect.Effect<boolean, StoreError>
    /** Subtracts persons of messages that were not sent. */
    readonly refund: (app: string, day: string, persons: number) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/ChatSends") {}

export const layer: Layer.Layer<ChatSends, never, SqlClient.SqlClient> = Layer.effect(
  ChatSends,
  Effect.map(SqlClient.SqlClient, (sql) => ({
    take: (app: string, day: string, persons: number, limit: number) =>
      Effect.gen(function* () {
        if (persons > limit) return false
        const rows = yield* sql<{ persons: number | string }>`
          INSERT INTO chat_sends ${sql.insert({ app, day, persons })}
          ON CONFLICT (app, day) DO UPDATE SET persons = chat_sends.persons + excluded.persons
          WHERE chat_sends.persons + excluded.persons <= ${limit} RETURNING persons`
        // The first message of a day removes the counts of earlier ones.
        if (Number(rows[0]?.persons) === persons) yield* sql`DELETE FROM chat_sends WHERE app = ${app} AND day < ${day}`
        return rows.length > 0
      }).pipe(unavailable("chat_sends.take")),
    refund: (app: string, day: string, persons: number) =>
      sql`UPDATE chat_sends SET persons = persons - ${persons}
        WHERE app = ${app} AND day = ${day} AND persons >= ${persons}`.pipe(
        Effect.asVoid,
        unavailable("chat_sends.refund")
      )
  }))
)
