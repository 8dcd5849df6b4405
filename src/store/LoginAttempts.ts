/**
 * Counts login attempts over all nodes. An attempt counts as failed until it succeeds. The table is `login_attempts`: one row for each
 * subject of an attempt; the next attempt removes old ones.
 */
import { Context, Effect, Layer } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import { newId } from "../domain/Ids.ts"
import { lockNames } from "../database/RowLocks.ts"
import { unavailable } from "../database/sql/StoreFailure.ts"

interface AttemptLimits {
  /** Number of failures of one client within the window after which it is locked. */
  readonly perClient: number
  readonly windowMillis: number
  /** Maximum number of stored failures of all clients. Beyond it the oldest are removed without locking anyone out. */
  readonly total: number
}

/** Client and user of an attempt. */
interface AttemptSubjects {
  readonly client: string
  readonly user: string
}

export type Attempt =
  /** `userFailures`: failures of this user within the window, before this attempt. */
  | { readonly _tag: "Begun"; readonly id: string; readonly userFailures: number }
  /** The client is locked; nothing was counted. */
  | { readonly _tag: "Held"; readonly until: number }

export class LoginAttempts extends Context.Service<
  LoginAttempts,
  {
    /** Counts an attempt, unless its client is locked. Concurrent attempts cannot exceed the limit. */
    readonly begin: (
      subjects: AttemptSubjects,
      limits: AttemptLimits,
      now: number
    ) => Effect.Effect<Attempt, StoreError>
    /** Removes a successful attempt from the count. */
    readonly succeeded: (id: string) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/LoginAttempts") {}

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
