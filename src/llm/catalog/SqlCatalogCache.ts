/**
 * The catalog in the tables `catalog_models` and `catalog_state`. Written in chunks that let other work run, not in one
 * transaction: records are independent, and the state that names the document is written last. With several nodes, one
 * transaction separates concurrent replacements.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { lockNames } from "../../database/RowLocks.ts"
import { CatalogCache, CatalogCacheError } from "./CatalogCache.ts"
import type { CatalogEntry, CatalogState } from "./CatalogCache.ts"

const stepSize = 200

export const layerSql: Layer.Layer<CatalogCache, never, SqlClient.SqlClient> = Layer.effect(
  CatalogCache,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const failing = <A, E extends { readonly message: string }>(effect: Effect.Effect<A, E>) =>
      Effect.mapError(effect, ({ message }) => new CatalogCacheError({ message }))

    const together = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError.SqlError, R> =>
      sql.onDialectOrElse({ pg: () => sql.withTransaction(work), orElse: () => work })

    const writeState = (source: string, { etag, checkedAt }: CatalogState) =>
      sql`INSERT INTO catalog_state ${sql.insert({ id: "catalog", source, etag: etag ?? null, checked_at: checkedAt })}
        ON CONFLICT (id) DO UPDATE SET
          source = excluded.source, etag = excluded.etag, checked_at = excluded.checked_at`

    return CatalogCache.of({
      find: (ids) =>
        sql<{ id: string; record: string }>`
          SELECT id, record FROM catalog_models WHERE ${sql.in("id", ids)}`.pipe(
          Effect.map((rows) => ids.map((id) => rows.find((row) => row.id === id)?.record).find((record) => record)),
          failing
        ),
      state: (source) =>
        sql<{ etag: string | null; checked_at: number }>`
          SELECT etag, checked_at FROM catalog_state WHERE source = ${source}`.pipe(
          Effect.map(([row]) =>
            row === undefined ? undefined : { etag: row.etag ?? undefined, checkedAt: Number(row.checked_at) }
          ),
          failing
        ),
      touch: (source, state) => failing(Effect.asVoid(writeState(source, state))),
      replace: Effect.fnUntraced(
        function* (source, state, entries) {
          yield* lockNames(sql, ["catalog"])
          const writtenAt = state.checkedAt
          for (const step of inSteps(entries)) {
            const [first, ...rest] = step
            const row = ({ id, record }: CatalogEntry) => ({ id, record, written_at: writtenAt })
            yield* sql`INSERT INTO catalog_models ${sql.insert([row(first), ...rest.map(row)])}
            ON CONFLICT (id) DO UPDATE SET record = excluded.record, written_at = excluded.written_at`
            yield* Effect.yieldNow
          }
          yield* sql`DELETE FROM catalog_models WHERE written_at <> ${writtenAt}`
          yield* writeState(source, state)
        },
        together,
        failing
      )
    })
  })
)

const inSteps = function* (
  entries: Iterable<CatalogEntry>
): Generator<readonly [CatalogEntry, ...Array<CatalogEntry>]> {
  let step: Array<CatalogEntry> = []
  const full = function* (): Generator<readonly [CatalogEntry, ...Array<CatalogEntry>]> {
    const [first, ...rest] = step
    if (first !== undefined) yield [first, ...rest]
    step = []
  }
  for (const entry of entries) {
    step.push(entry)
    if (step.length === stepSize) yield* full()
  }
  yield* full()
}
