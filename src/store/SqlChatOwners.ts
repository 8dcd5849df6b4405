/** Stores owners of chat connections in the table `chat_owners`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { unavailable } from "../database/StoreFailure.ts"
import { ChatOwners } from "./ChatOwners.ts"

interface Row {
  readonly epoch: number
}

export const layer: Layer.Layer<ChatOwners, never, SqlClient.SqlClient> = Layer.effect(
  ChatOwners,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return ChatOwners.of({
      claim: (connection, node) =>
        sql<Row>`INSERT INTO chat_owners ${sql.insert({ connection, node, epoch: 1 })}
          ON CONFLICT (connection) DO UPDATE SET epoch = chat_owners.epoch + 1, node = excluded.node RETURNING epoch`.pipe(
          Effect.map(([row]) => Number(row?.epoch ?? 0)),
          unavailable("chat_owners.claim")
        ),
      isCurrent: (connection, epoch) =>
        sql<Row>`SELECT epoch FROM chat_owners WHERE connection = ${connection}`.pipe(
          Effect.map(([row]) => Number(row?.epoch ?? 0) <= epoch),
          unavailable("chat_owners.isCurrent")
        )
    })
  })
)
