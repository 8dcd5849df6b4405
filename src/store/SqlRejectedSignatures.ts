/** Stores counts of rejected signatures in the table `rejected_signatures`. */
import { Array as Arr, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../database/DeleteInSteps.ts"
import { unavailable } from "../database/StoreFailure.ts"
import { RejectedSignatures } from "./RejectedSignatures.ts"
import type { RejectedSignature } from "./RejectedSignatures.ts"

const hourMillis = Duration.toMillis("1 hour")

interface Row {
  readonly hour: number
  readonly trigger_name: string
  readonly provider: string
  readonly from_loopback: number
  readonly from_private: number
  readonly from_public: number
  readonly last_at: number
}

const toRow = ({ counts, hour, lastAt, provider, trigger }: RejectedSignature): Row => ({
  hour,
  trigger_name: trigger,
  provider,
  from_loopback: counts.loopback,
  from_private: counts.private,
  from_public: counts.public,
  last_at: lastAt
})

const fromRow = (row: Row): RejectedSignature => ({
  hour: Number(row.hour),
  trigger: row.trigger_name,
  provider: row.provider,
  counts: {
    loopback: Number(row.from_loopback),
    private: Number(row.from_private),
    public: Number(row.from_public)
  },
  lastAt: Number(row.last_at)
})

/** Nodes update rows in the same order, so that they do not block each other. */
const byKey = (one: Row, other: Row): number =>
  one.hour - other.hour || (one.trigger_name < other.trigger_name ? -1 : Number(one.trigger_name > other.trigger_name))

const upsert = (sql: SqlClient.SqlClient, rows: Arr.NonEmptyReadonlyArray<Row>) =>
  sql`
    INSERT INTO rejected_signatures ${sql.insert(Arr.map(rows, (row) => ({ ...row })))}
    ON CONFLICT (hour, trigger_name) DO UPDATE SET
      from_loopback = rejected_signatures.from_loopback + excluded.from_loopback,
      from_private = rejected_signatures.from_private + excluded.from_private,
      from_public = rejected_signatures.from_public + excluded.from_public,
      last_at = CASE WHEN excluded.last_at > rejected_signatures.last_at
        THEN excluded.last_at ELSE rejected_signatures.last_at END`.pipe(
    Effect.asVoid,
    unavailable("rejected_signatures.add")
  )

export const layer: Layer.Layer<RejectedSignatures, never, SqlClient.SqlClient> = Layer.effect(
  RejectedSignatures,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return RejectedSignatures.of({
      add: (items) => {
        const rows = items.map(toRow).toSorted(byKey)
        return Arr.isReadonlyArrayNonEmpty(rows) ? upsert(sql, rows) : Effect.void
      },
      list: ({ limit, since }) =>
        sql<Row>`SELECT * FROM rejected_signatures WHERE hour > ${since - hourMillis}
          ORDER BY hour DESC, trigger_name LIMIT ${limit}`.pipe(
          Effect.map((rows) => rows.map(fromRow)),
          unavailable("rejected_signatures.list")
        ),
      prune: (before) =>
        deleteInSteps(
          (limit) => sql`DELETE FROM rejected_signatures WHERE (hour, trigger_name) IN (
            SELECT hour, trigger_name FROM rejected_signatures WHERE hour < ${before} ORDER BY hour LIMIT ${limit})
            RETURNING hour`
        ).pipe(unavailable("rejected_signatures.prune"))
    })
  })
)
