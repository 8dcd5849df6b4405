/**
 * Base branches of pull requests, from their latest deliveries. Some deliveries, such as comments on some hosts, do not name the branch;
 * the ingress selects their workspace by the stored one. Stored only where match rules depend on the branch. The host is queried for a
 * branch that is not stored. The table is `pull_bases`.
 */
import { Context, Array as Arr, Effect, Layer } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../database/sql/DeleteInSteps.ts"
import { unavailable } from "../database/sql/StoreFailure.ts"
import { foldRepo } from "../domain/Change.ts"

interface PullOfTriggers {
  /** Names of the triggers whose credential verified the delivery. Each trigger has branches of its own. */
  readonly triggers: ReadonlyArray<string>
  /** Full name of the repository, compared case-insensitively. */
  readonly repo: string
  readonly number: number
}

export interface PullBase extends PullOfTriggers {
  readonly baseRef: string
  readonly seenAt: number
}

export class PullBases extends Context.Service<
  PullBases,
  {
    /** Replaces what is stored, unless that is from a later delivery. */
    readonly store: (bases: ReadonlyArray<PullBase>) => Effect.Effect<void, StoreError>
    /** Returns the stored branch by trigger name. */
    readonly find: (pull: PullOfTriggers) => Effect.Effect<ReadonlyMap<string, string>, StoreError>
    /** Removes rows beyond `maxCount` and rows last seen before `before`. Returns the number of removed rows. */
    readonly prune: (keep: { readonly maxCount: number; readonly before: number }) => Effect.Effect<number, StoreError>
  }
>()("aicr/store/PullBases") {}

const maxRows = 500

/** Returns one row per key, the latest, because a statement may not change a row twice. Sorted by key, so that nodes do not deadlock. */
const toRows = (bases: ReadonlyArray<PullBase>) => {
  const rows = bases
    .toSorted((a, b) => a.seenAt - b.seenAt)
    .flatMap(({ triggers, repo, number, baseRef, seenAt }) =>
      triggers.map((trigger) => ({
        trigger_name: trigger,
        repo: foldRepo(repo),
        pull_number: number,
        base_ref: baseRef,
        seen_at: seenAt
      }))
    )
  const byKey = new Map(rows.map((row) => [JSON.stringify([row.trigger_name, row.repo, row.pull_number]), row]))
  return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

export const layer: Layer.Layer<PullBases, never, SqlClient.SqlClient> = Layer.effect(
  PullBases,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return PullBases.of({
      store: (bases) =>
        Effect.forEach(
          Arr.chunksOf(toRows(bases), maxRows),
          (rows) => sql`
            INSERT INTO pull_bases ${sql.insert(rows)}
            ON CONFLICT (trigger_name, repo, pull_number)
            DO UPDATE SET base_ref = excluded.base_ref, seen_at = excluded.seen_at
            WHERE excluded.seen_at >= pull_bases.seen_at`,
          { discard: true }
        ).pipe(unavailable("pullBases.store")),
      find: ({ triggers, repo, number }) =>
        triggers.length === 0
          ? Effect.succeed(new Map<string, string>())
          : sql<{ trigger_name: string; base_ref: string }>`
              SELECT trigger_name, base_ref FROM pull_bases
              WHERE repo = ${foldRepo(repo)} AND pull_number = ${number} AND ${sql.in("trigger_name", triggers)}`.pipe(
              Effect.map((rows) => new Map(rows.map((row) => [row.trigger_name, row.base_ref]))),
              unavailable("pullBases.find")
            ),
      prune: ({ before, maxCount }) =>
        deleteInSteps(
          (step) => sql<{ repo: string }>`
            DELETE FROM pull_bases WHERE (trigger_name, repo, pull_number) IN (
              SELECT trigger_name, repo, pull_number FROM pull_bases
              WHERE seen_at < ${before}
                OR seen_at <= (SELECT seen_at FROM pull_bases ORDER BY seen_at DESC LIMIT 1 OFFSET ${maxCount})
              ORDER BY seen_at LIMIT ${step})
            RETURNING repo`
        ).pipe(unavailable("pullBases.prune"))
    })
  })
)
