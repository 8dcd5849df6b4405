/** Stores sessions of the administration, shared by all nodes. Only the digest of a token is stored. The table is `admin_sessions`. */
import { Context, Effect, Layer, Schema } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import type { RecordValues } from "../domain/Record.ts"
import { AccessRole } from "../domain/AccessRole.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import { selectAs, unavailable } from "../database/sql/StoreFailure.ts"

export const AdminSession = record({
  id: Field.text,
  /** `link`: one caller may exchange it for a session. */
  purpose: Field.stored(Schema.Literals(["session", "link"])),
  username: Field.outsideText,
  role: Field.stored(AccessRole),
  /** Digest of the settings by which the person logged in elsewhere; absent: with the password, or with a link. */
  origin: Field.optional(Field.text),
  createdAt: Field.time,
  expiresAt: Field.time
})
export type AdminSession = RecordValues<typeof AdminSession>

export class AdminSessions extends Context.Service<
  AdminSessions,
  {
    /** Stores a session and removes those that have expired by its creation. */
    readonly open: (digest: string, session: AdminSession) => Effect.Effect<void, StoreError>
    /** Returns the newest sessions that have not expired by `now`, at most 1000. */
    readonly list: (now: number) => Effect.Effect<ReadonlyArray<AdminSession>, StoreError>
    /** Ends the session with this id. Returns whether it existed. */
    readonly end: (id: string) => Effect.Effect<boolean, StoreError>
    /** Returns undefined if there is none, or it has expired by `now`. */
    readonly find: (digest: string, now: number) => Effect.Effect<AdminSession | undefined, StoreError>
    /** Ends all sessions except the one with this digest, or all. Returns how many ended. */
    readonly revoke: (except: string | undefined) => Effect.Effect<number, StoreError>
    /** Ends a session and returns it, to one of several callers only. Undefined if there is none, or it has expired by `now`. */
    readonly take: (digest: string, now: number) => Effect.Effect<AdminSession | undefined, StoreError>
    readonly close: (digest: string) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/AdminSessions") {}

const maxListed = 1000

const first = ([session]: ReadonlyArray<AdminSession>): AdminSession | undefined => session

export const layer: Layer.Layer<AdminSessions, never, SqlClient.SqlClient> = Layer.effect(
  AdminSessions,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return AdminSessions.of({
      open: (digest, session) =>
        sql`DELETE FROM admin_sessions WHERE expires_at <= ${session.createdAt}`.pipe(
          Effect.andThen(sql`INSERT INTO admin_sessions ${sql.insert({ digest, ...AdminSession.toRow(session) })}`),
          Effect.asVoid,
          unavailable("sessions.open")
        ),
      list: (now) =>
        selectAs(
          AdminSession,
          "sessions.list",
          sql`SELECT * FROM admin_sessions WHERE purpose = 'session' AND expires_at > ${now} ORDER BY id DESC LIMIT ${maxListed}`
        ).pipe(unavailable("sessions.list")),
      end: (id) =>
        sql`DELETE FROM admin_sessions WHERE id = ${id} AND purpose = 'session' RETURNING id`.pipe(
          Effect.map((rows) => rows.length > 0),
          unavailable("sessions.end")
        ),
      find: (digest, now) =>
        selectAs(
          AdminSession,
          "sessions.find",
          sql`SELECT * FROM admin_sessions WHERE digest = ${digest} AND expires_at > ${now}`
        ).pipe(Effect.map(first), unavailable("sessions.find")),
      take: (digest, now) =>
        selectAs(
          AdminSession,
          "sessions.take",
          sql`DELETE FROM admin_sessions WHERE digest = ${digest} AND expires_at > ${now} RETURNING *`
        ).pipe(Effect.map(first), unavailable("sessions.take")),
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
