/** Stores the last fire of each schedule, so that it fires once for a downtime, and never twice. The table is `schedules`. */
import { Context, Effect, Layer } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import { unavailable } from "../database/sql/StoreFailure.ts"

export class Schedules extends Context.Service<
  Schedules,
  {
    /** Returns the last fire of a schedule; a new one is recorded as fired at `now`, so that it starts with its next time. */
    readonly lastFire: (id: string, now: number) => Effect.Effect<number, StoreError>
    /** Records a fire; an earlier one than the recorded one changes nothing. */
    readonly fired: (id: string, at: number) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/Schedules") {}

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
