/**
 * Owners of chat connections. A node that takes a connection over gets a number above those of all earlier owners; an earlier owner, for
 * example one that was frozen, finds it before it opens a long connection. The table is `chat_owners`.
 */
import { Context, Effect, Layer } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import { unavailable } from "../database/sql/StoreFailure.ts"

export class ChatOwners extends Context.Service<
  ChatOwners,
  {
    /** Makes this node the owner. Returns the number of its ownership. */
    readonly claim: (connection: string, node: string) => Effect.Effect<number, StoreError>
    /** Returns whether no later owner exists. */
    readonly isCurrent: (connection: string, epoch: number) => Effect.Effect<boolean, StoreError>
  }
>()("aicr/store/ChatOwners") {}

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
