/** Stores fires in the table `schedules`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Schedules } from "./Schedules.ts"
import { unavailable } from "../database/StoreFailure.ts"

export const layer: Layer.Layer<Schedules, never, SqlClient.SqlClient> = Layer.effect(
  Schedules,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return Schedules.of({
      lastFire: Effect.fnUntraced(function* (id, now) {
        const known = sql<{ last_fire: number }>`SELECT last_fire FROM schedules WHERE id = ${id}`
        const [row] = yield* known
        if (row !== undefined) return row.last_fire
        yield* sql`INSERT INTO schedules (id, last_fire) VALUES (${id}, ${now}) ON CONFLICT DO NOTHING`
        return (yield* known)[0]?.last_fire ?? now
      }, unavailable("schedules.lastFire")),
      fired: (id, at) =>
        sql`INSERT INTO schedules (id, last_fire) VALUES (${id}, ${at})
          ON CONFLICT (id) DO UPDATE SET last_fire = excluded.last_fire WHERE excluded.last_fire > schedules.last_fire`.pipe(
          Effect.asVoid,
          unavailable("schedules.fired")
        )
    })
  })
)
