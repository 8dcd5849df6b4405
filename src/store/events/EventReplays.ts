/**
 * Links deliveries that repeat others with these, in the table `delivery_replays`. A link is stored before its delivery, so that none is missing after
 * a crash; one whose delivery does not exist is not listed, and removed by retention.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { unavailable } from "../../database/sql/StoreFailure.ts"
import { select } from "./EventQueries.ts"
import type { Receipts } from "../Receipts.ts"

type Service = Receipts["Service"]

export const eventReplays = (sql: SqlClient.SqlClient): Pick<Service, "addReplay" | "replays"> => ({
  addReplay: (id, replayOf) =>
    sql`INSERT INTO delivery_replays ${sql.insert({ event_id: id, replay_of: replayOf })}`.pipe(
      Effect.asVoid,
      unavailable("receipts.addReplay")
    ),
  replays: Effect.fnUntraced(function* (id, limit) {
    const [original] = yield* sql<{ replay_of: string }>`
      SELECT replay_of FROM delivery_replays WHERE event_id = ${id}`.pipe(unavailable("receipts.replays"))
    const replays = yield* select(
      "receipts.replays",
      sql`
        SELECT events.* FROM delivery_replays JOIN events ON events.id = delivery_replays.event_id
        WHERE delivery_replays.replay_of = ${id} ORDER BY delivery_replays.event_id DESC LIMIT ${limit}`.pipe(
        unavailable("receipts.replays")
      )
    )
    return { replayOf: original?.replay_of, replays }
  })
})

/** Removes links of deliveries that do not exist any more. One that is being stored is younger than `before`. */
export const removeReplays = (sql: SqlClient.SqlClient, before: string) =>
  deleteInSteps(
    (step) => sql`
      DELETE FROM delivery_replays WHERE event_id IN (
        SELECT event_id FROM delivery_replays WHERE event_id < ${before}
          AND NOT EXISTS (SELECT 1 FROM events WHERE events.id = delivery_replays.event_id) LIMIT ${step})
      RETURNING event_id`
  )
