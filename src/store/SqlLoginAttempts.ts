/** Attempts in the table `login_attempts`, one row for each subject of an attempt; old ones go with the next attempt. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../domain/Ids.ts"
import { LoginAttempts } from "./LoginAttempts.ts"
import type { Attempt, AttemptLimits } from "./LoginAttempts.ts"
import { lockNames } from "./RowLocks.ts"
import { unavailable } from "./StoreFailure.ts"

export const layer: Layer.Layer<LoginAttempts, never, SqlClient.SqlClient> = Layer.effect(
  LoginAttempts,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    /** When the subject may try again: when the oldest of its last failures leaves the window. */
    const heldUntil = Effect.fnUntraced(function* (
      subject: string,
      { most, windowMillis }: AttemptLimits,
      now: number
    ) {
      const [row] = yield* sql<{ at: number }>`
        SELECT at FROM login_attempts WHERE subject = ${subject} AND at > ${now - windowMillis}
        ORDER BY at DESC LIMIT 1 OFFSET ${most - 1}`
      return row === undefined ? undefined : row.at + windowMillis
    })

    return LoginAttempts.of({
      begin: Effect.fnUntraced(
        function* (subjects, limits, now) {
          yield* lockNames(sql, ["logins"])
          yield* sql`DELETE FROM login_attempts WHERE at <= ${now - limits.windowMillis}`
          const held = yield* Effect.forEach(subjects, (subject) => heldUntil(subject, limits, now))
          const [all] = yield* sql<{ n: number; first: number | null }>`
            SELECT count(*) AS n, min(at) AS first FROM login_attempts`
          if (all !== undefined && all.n >= limits.mostOfAll) held.push((all.first ?? now) + limits.windowMillis)
          const untils = held.filter((until) => until !== undefined)
          if (untils.length > 0) return { _tag: "Held", until: Math.max(...untils) } satisfies Attempt
          const id = newId()
          for (const subject of new Set(subjects))
            yield* sql`INSERT INTO login_attempts ${sql.insert({ id, subject, at: now })}`
          return { _tag: "Begun", id } satisfies Attempt
        },
        sql.withTransaction,
        unavailable("logins.begin")
      ),
      succeeded: (id) =>
        sql`DELETE FROM login_attempts WHERE id = ${id}`.pipe(Effect.asVoid, unavailable("logins.succeeded"))
    })
  })
)
