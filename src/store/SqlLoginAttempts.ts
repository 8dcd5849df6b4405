/** Stores attempts in the table `login_attempts`, one row for each subject of an attempt; the next attempt removes old ones. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../domain/Ids.ts"
import { LoginAttempts } from "./LoginAttempts.ts"
import type { Attempt, AttemptLimits } from "./LoginAttempts.ts"
import { lockNames } from "../database/RowLocks.ts"
import { unavailable } from "../database/StoreFailure.ts"

export const layer: Layer.Layer<LoginAttempts, never, SqlClient.SqlClient> = Layer.effect(
  LoginAttempts,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** Returns when the client may try again: when the oldest of its last failures leaves the window. */
    const lockedUntil = Effect.fnUntraced(function* (client: string, { perClient, windowMillis }: AttemptLimits) {
      const [row] = yield* sql<{ at: number }>`
        SELECT at FROM login_attempts WHERE subject = ${client} ORDER BY at DESC LIMIT 1 OFFSET ${perClient - 1}`
      return row === undefined ? undefined : row.at + windowMillis
    })

    const forgetOld = Effect.fnUntraced(function* ({ total, windowMillis }: AttemptLimits, now: number) {
      yield* sql`DELETE FROM login_attempts WHERE at <= ${now - windowMillis}`
      const [oldest] = yield* sql<{ at: number }>`
        SELECT at FROM login_attempts ORDER BY at DESC LIMIT 1 OFFSET ${total - 1}`
      if (oldest !== undefined) yield* sql`DELETE FROM login_attempts WHERE at <= ${oldest.at}`
    })

    return LoginAttempts.of({
      begin: Effect.fnUntraced(
        function* ({ client, user }, limits, now) {
          yield* lockNames(sql, ["logins"])
          yield* forgetOld(limits, now)
          const until = yield* lockedUntil(client, limits)
          if (until !== undefined) return { _tag: "Held", until } satisfies Attempt
          const [failures] = yield* sql<{ n: number }>`
            SELECT count(*) AS n FROM login_attempts WHERE subject = ${user}`
          const id = newId()
          yield* sql`INSERT INTO login_attempts ${sql.insert([
            { id, subject: client, at: now },
            { id, subject: user, at: now }
          ])}`
          return { _tag: "Begun", id, userFailures: Number(failures?.n ?? 0) } satisfies Attempt
        },
        sql.withTransaction,
        unavailable("logins.begin")
      ),
      succeeded: (id) =>
        sql`DELETE FROM login_attempts WHERE id = ${id}`.pipe(Effect.asVoid, unavailable("logins.succeeded"))
    })
  })
)
