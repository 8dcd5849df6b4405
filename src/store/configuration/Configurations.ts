/**
 * Stores configuration documents by hash for as long as unfinished work is pinned to them. The table is `configurations`. Those without
 * unfinished work are removed when they are old, or when there are many.
 */
import { Context, Clock, Duration, Effect, Layer } from "effect"
import type { SnapshotArchive } from "../../config/ConfigStore.ts"
import type { StoreError } from "../../database/StoreError.ts"
import { SqlClient } from "effect/sql"
import { unavailable } from "../../database/sql/StoreFailure.ts"

/** A delivery whose review has not ended. */
interface UnfinishedDelivery {
  readonly id: string
  readonly workspace: string
  readonly targetKey: string
}

interface UnfinishedWork {
  /** Oldest first. */
  readonly items: ReadonlyArray<UnfinishedDelivery>
  /** More exist than are listed. */
  readonly more: boolean
}

interface StoredConfigurations extends SnapshotArchive<StoreError> {
  /** Hashes of all stored documents. */
  readonly hashes: Effect.Effect<ReadonlyArray<string>, StoreError>
  /** Lists the accepted deliveries whose reviews have not ended and keep another configuration than this one. */
  readonly unfinished: (hash: string, limit: number) => Effect.Effect<UnfinishedWork, StoreError>
  /** Replaces the text of a document that is still `before`; returns false if it is not. */
  readonly replace: (hash: string, before: string, after: string) => Effect.Effect<boolean, StoreError>
}

export class Configurations extends Context.Service<Configurations, StoredConfigurations>()(
  "aicr/store/Configurations"
) {}

/** Another node may still admit under a document that this one has replaced, and its work may wait for a weekly window. */
const retention = Duration.days(30)
const maxUnpinned = 200

export const layer: Layer.Layer<Configurations, never, SqlClient.SqlClient> = Layer.effect(
  Configurations,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // Titles may contain text that JSON functions of Postgres refuse; a quote inside a text is escaped in JSON.
    const workHash = sql.onDialectOrElse({
      pg: () => sql.literal(`substring(work from '"configHash":"([^"]+)"')`),
      orElse: () => sql.literal("json_extract(work, '$.configHash')")
    })
    /** Hashes that are in use by deliveries (waiting work), batches (collecting), runs and publications (in progress). */
    const pinned = sql`
      SELECT ${workHash} AS hash FROM events WHERE work IS NOT NULL AND outcome IS NULL
      UNION SELECT config_hash FROM batches WHERE finished_at IS NULL
      UNION SELECT config_hash FROM runs WHERE status IN ('queued', 'preparing', 'analyzing', 'publishing')
      UNION SELECT config_hash FROM runs WHERE id IN (
        SELECT run_id FROM publications WHERE status IN ('pending', 'sending', 'unknown'))`

    return Configurations.of({
      keep: Effect.fnUntraced(function* ({ hash, document }) {
        const now = yield* Clock.currentTimeMillis
        yield* sql`
          INSERT INTO configurations (hash, document, kept_at) VALUES (${hash}, ${document}, ${now})
          ON CONFLICT (hash) DO UPDATE SET document = excluded.document, kept_at = excluded.kept_at`
        const stale = yield* sql<{ hash: string }>`
          SELECT hash FROM configurations WHERE hash <> ${hash}
            AND (kept_at < ${now - Duration.toMillis(retention)}
              OR hash NOT IN (SELECT hash FROM configurations ORDER BY kept_at DESC LIMIT ${maxUnpinned}))`
        if (stale.length === 0) return
        yield* sql`
          DELETE FROM configurations
          WHERE ${sql.in(
            "hash",
            stale.map((row) => row.hash)
          )} AND hash NOT IN (${pinned})`
      }, unavailable("configurations.keep")),
      find: (hash) =>
        sql<{ hash: string; document: string }>`
          SELECT hash, document FROM configurations WHERE hash = ${hash}`.pipe(
          Effect.map(([row]) => row),
          unavailable("configurations.find")
        ),
      hashes: sql<{ hash: string }>`SELECT hash FROM configurations ORDER BY kept_at`.pipe(
        Effect.map((rows) => rows.map(({ hash }) => hash)),
        unavailable("configurations.hashes")
      ),
      unfinished: (hash, limit) =>
        sql<{ id: string; workspace: string | null; target_key: string | null }>`
          SELECT id, workspace, target_key FROM events
          WHERE work IS NOT NULL AND outcome IS NULL AND ${workHash} <> ${hash} ORDER BY seq LIMIT ${limit + 1}`.pipe(
          Effect.map((rows) => ({
            items: rows.slice(0, limit).map(({ id, target_key, workspace }) => ({
              id,
              workspace: workspace ?? "",
              targetKey: target_key ?? ""
            })),
            more: rows.length > limit
          })),
          unavailable("configurations.unfinished")
        ),
      replace: (hash, before, after) =>
        sql`UPDATE configurations SET document = ${after}
          WHERE hash = ${hash} AND document = ${before} RETURNING hash`.pipe(
          Effect.map((rows) => rows.length > 0),
          unavailable("configurations.replace")
        ),
      pinned: sql<{ hash: string }>`${pinned}`.pipe(
        Effect.map((rows) => new Set(rows.map(({ hash }) => hash))),
        unavailable("configurations.pinned")
      )
    })
  })
)
