/** Records that the processes of a cluster are alive, independently of the bus. The table is `heartbeats`. */
import { Context, Duration, Effect, Layer } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import { unavailable } from "../database/sql/StoreFailure.ts"

interface Heartbeat {
  /** Process (NodeIdentity.owner). */
  readonly owner: string
  readonly seenAt: number
}

export class Heartbeats extends Context.Service<
  Heartbeats,
  {
    /** Records that the process is alive now. Returns the heartbeats of all others. */
    readonly beat: (owner: string, now: number) => Effect.Effect<ReadonlyArray<Heartbeat>, StoreError>
    /** Removes a process that has ended. */
    readonly remove: (owner: string) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/Heartbeats") {}

/** A process that ended this long ago holds nothing any more. */
const retentionMillis = Duration.toMillis("1 day")

export const layer: Layer.Layer<Heartbeats, never, SqlClient.SqlClient> = Layer.effect(
  Heartbeats,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return Heartbeats.of({
      beat: Effect.fnUntraced(function* (owner, now) {
        const write = sql`INSERT INTO heartbeats (owner, seen_at) VALUES (${owner}, ${now})
          ON CONFLICT (owner) DO UPDATE SET seen_at = excluded.seen_at`
        const read = sql<{ owner: string; seen_at: number }>`SELECT owner, seen_at FROM heartbeats`
        // Every process of a cluster beats every two seconds, also at rest.
        const rows = yield* sql.onDialectOrElse({
          pg: () => sql<{ owner: string; seen_at: number }>`WITH beat AS (${write}) ${read}`,
          orElse: () => Effect.andThen(write, read)
        })
        const others = rows.flatMap((row): ReadonlyArray<Heartbeat> =>
          row.owner === owner ? [] : [{ owner: row.owner, seenAt: Number(row.seen_at) }]
        )
        const [old, recent] = [
          others.filter(({ seenAt }) => seenAt < now - retentionMillis),
          others.filter(({ seenAt }) => seenAt >= now - retentionMillis)
        ]
        if (old.length > 0)
          yield* sql`DELETE FROM heartbeats WHERE ${sql.in(
            "owner",
            old.map((row) => row.owner)
          )} AND seen_at < ${now - retentionMillis}`
        return recent
      }, unavailable("heartbeats.beat")),
      remove: (owner) =>
        sql`DELETE FROM heartbeats WHERE owner = ${owner}`.pipe(Effect.asVoid, unavailable("heartbeats.remove"))
    })
  })
)
