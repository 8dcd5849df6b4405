/** Stores states of chat connections in the table `chat_health`. */
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ChatConnectionState } from "../domain/ChatHealth.ts"
import { unavailable } from "../database/StoreFailure.ts"
import { ChatHealths } from "./ChatHealths.ts"
import { encodeReason, ReasonText } from "./ReasonText.ts"

interface Row {
  readonly connection: string
  readonly state: string
  readonly detail: string | null
  readonly node: string
  readonly since: number
  readonly reported_at: number
}

const decodeReason = Schema.decodeUnknownOption(ReasonText)

const isState = Schema.is(ChatConnectionState)

export const layer: Layer.Layer<ChatHealths, never, SqlClient.SqlClient> = Layer.effect(
  ChatHealths,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return ChatHealths.of({
      report: ({ connection, detail, node, reportedAt, since, state }) =>
        sql`INSERT INTO chat_health ${sql.insert({
          connection,
          state,
          detail: encodeReason(detail),
          node,
          since,
          reported_at: reportedAt
        })} ON CONFLICT (connection) DO UPDATE SET state = excluded.state, detail = excluded.detail,
          node = excluded.node, since = excluded.since, reported_at = excluded.reported_at
          WHERE excluded.reported_at >= chat_health.reported_at`.pipe(Effect.asVoid, unavailable("chat_health.report")),
      list: sql<Row>`SELECT * FROM chat_health ORDER BY connection LIMIT 1000`.pipe(
        Effect.map((rows) =>
          rows.map(({ connection, detail, node, reported_at, since, state }) => ({
            connection,
            state: isState(state) ? state : ("unknown" as const),
            detail: Option.getOrUndefined(decodeReason(detail)),
            node,
            since: Number(since),
            reportedAt: Number(reported_at)
          }))
        ),
        unavailable("chat_health.list")
      ),
      prune: (before) =>
        sql`DELETE FROM chat_health WHERE reported_at < ${before}`.pipe(Effect.asVoid, unavailable("chat_health.prune"))
    })
  })
)
