/** Stores counts of rejected signatures in the table `rejected_signatures`. */
import { Array as Arr, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { RejectedSignature, RejectedSignatures } from "../RejectedSignatures.ts"

const hourMillis = Duration.toMillis("1 hour")

/** Nodes update rows in the same order, so that they do not block each other. */
const byKey = (one: RejectedSignature, other: RejectedSignature): number =>
  one.hour - other.hour || (one.trigger < other.trigger ? -1 : Number(one.trigger > other.trigger))

const upsert = (sql: SqlClient.SqlClient, items: Arr.NonEmptyReadonlyArray<RejectedSignature>) =>
  sql`
    INSERT INTO rejected_signatures ${sql.insert(Arr.map(items, RejectedSignature.toRow))}
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
        const sorted = items.toSorted(byKey)
        return Arr.isReadonlyArrayNonEmpty(sorted) ? upsert(sql, sorted) : Effect.void
      },
      list: ({ limit, since }) =>
        selectAs(
          RejectedSignature,
          "rejected_signatures.list",
          sql`
            SELECT * FROM rejected_signatures WHERE hour > ${since - hourMillis}
            ORDER BY hour DESC, trigger_name LIMIT ${limit}`
        ).pipe(unavailable("rejected_signatures.list")),
      prune: (before) =>
        deleteInSteps(
          (limit) => sql`DELETE FROM rejected_signatures WHERE (hour, trigger_name) IN (
            SELECT hour, trigger_name FROM rejected_signatures WHERE hour < ${before} ORDER BY hour LIMIT ${limit})
            RETURNING hour`
        ).pipe(unavailable("rejected_signatures.prune"))
    })
  })
)
