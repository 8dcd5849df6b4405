/** States of chat connections over all nodes: the owner of each connection reports it. The table is `chat_health`. */
import { Context, Effect, Layer } from "effect"
import { ChatHealth } from "../domain/ChatHealth.ts"
import type { StoreError } from "../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import { selectAs, unavailable } from "../database/sql/StoreFailure.ts"

export class ChatHealths extends Context.Service<
  ChatHealths,
  {
    /** Replaces the report of a connection. A later one of another owner is not replaced. */
    readonly report: (health: ChatHealth) => Effect.Effect<void, StoreError>
    readonly list: Effect.Effect<ReadonlyArray<ChatHealth>, StoreError>
    /** Removes reports before this time. */
    readonly prune: (before: number) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/ChatHealths") {}

export const layer: Layer.Layer<ChatHealths, never, SqlClient.SqlClient> = Layer.effect(
  ChatHealths,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return ChatHealths.of({
      report: (health) =>
        sql`INSERT INTO chat_health ${sql.insert(ChatHealth.toRow(health))} ON CONFLICT (connection) DO UPDATE SET state = excluded.state, detail = excluded.detail,
          node = excluded.node, since = excluded.since, reported_at = excluded.reported_at
          WHERE excluded.reported_at >= chat_health.reported_at`.pipe(Effect.asVoid, unavailable("chat_health.report")),
      list: selectAs(
        ChatHealth,
        "chat_health.list",
        sql`SELECT * FROM chat_health ORDER BY connection LIMIT 1000`
      ).pipe(unavailable("chat_health.list")),
      prune: (before) =>
        sql`DELETE FROM chat_health WHERE reported_at < ${before}`.pipe(Effect.asVoid, unavailable("chat_health.prune"))
    })
  })
)
