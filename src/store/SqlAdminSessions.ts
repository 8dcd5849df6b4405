/** Stores sessions in the table `admin_sessions`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AdminSessions } from "./AdminSessions.ts"
import { unavailable } from "../database/StoreFailure.ts"

interface Row {
  readonly username: string
  readonly created_at: number
  readonly expires_at: number
}

const toSession = ([row]: ReadonlyArray<Row>) =>
  row === undefined ? undefined : { username: row.username, createdAt: row.created_at, expiresAt: row.expires_at }

export const layer: Layer.Layer<AdminSessions, never, SqlClient.SqlClient> = Layer.effect(
  AdminSessions,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return AdminSessions.of({
      open: (digest, { createdAt, expiresAt, username }) =>
        sql`DELETE FROM admin_sessions WHERE expires_at <= ${createdAt}`.pipe(
          Effect.andThen(
            sql`INSERT INTO admin_sessions ${sql.insert({ digest, username, created_at: createdAt, expires_at: expiresAt })}`
          ),
          Effect.asVoid,
          unavailable("sessions.open")
        ),
      find: (digest, now) =>
        sql<Row>`
          SELECT username, created_at, expires_at FROM admin_sessions
          WHERE digest = ${digest} AND expires_at > ${now}`.pipe(Effect.map(toSession), unavailable("sessions.find")),
      take: (digest, now) =>
        sql<Row>`
          DELETE FROM admin_sessions WHERE digest = ${digest} AND expires_at > ${now}
          RETURNING username, created_at, expires_at`.pipe(Effect.map(toSession), unavailable("sessions.take")),
      revoke: (except) =>
        sql`DELETE FROM admin_sessions WHERE digest <> ${except ?? ""} RETURNING digest`.pipe(
          Effect.map((rows) => rows.length),
          unavailable("sessions.revoke")
        ),
      close: (digest) =>
        sql`DELETE FROM admin_sessions WHERE digest = ${digest}`.pipe(Effect.asVoid, unavailable("sessions.close"))
    })
  })
)
