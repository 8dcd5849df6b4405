/** Stores sessions in the table `admin_sessions`. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AdminSessions } from "./AdminSessions.ts"
import { unavailable } from "../database/StoreFailure.ts"

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
        sql<{ username: string; created_at: number; expires_at: number }>`
          SELECT username, created_at, expires_at FROM admin_sessions
          WHERE digest = ${digest} AND expires_at > ${now}`.pipe(
          Effect.map(([row]) =>
            row === undefined
              ? undefined
              : { username: row.username, createdAt: row.created_at, expiresAt: row.expires_at }
          ),
          unavailable("sessions.find")
        ),
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
