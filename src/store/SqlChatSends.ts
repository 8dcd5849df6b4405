/** Stores the counts in the table `chat_sends`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { unavailable } from "../database/StoreFailure.ts"
import { ChatSends } from "./ChatSends.ts"

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
    giveBack: (app: string, day: string, persons: number) =>
      sql`UPDATE chat_sends SET persons = persons - ${persons}
        WHERE app = ${app} AND day = ${day} AND persons >= ${persons}`.pipe(
        Effect.asVoid,
        unavailable("chat_sends.giveBack")
      )
  }))
)
