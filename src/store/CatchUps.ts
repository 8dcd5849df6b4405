/**
 * What catch-up (actors/catchup/CatchUp.ts) has seen of the sources of triggers. The table `catch_ups` has one row per trigger: its last look
 * and a requested one. `catch_up_marks` has what was seen of each scope of a trigger.
 */
import { Array as Arr, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { StoreError } from "../database/StoreError.ts"
import { selectAs, unavailable } from "../database/sql/StoreFailure.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"

/** Why changes without a delivery were looked for. */
export const CatchUpOccasion = Schema.Literals([
  /** A node that receives deliveries started. */
  "start",
  "beat",
  /** Deliveries were refused because the records or the queue took none. */
  "refused",
  /** A webhook was created or repaired. */
  "hook",
  /** An operator requested it. */
  "requested"
])
export type CatchUpOccasion = typeof CatchUpOccasion.Type

export const CatchUp = record({
  trigger: Field.named("trigger_name", Field.text),
  /** The earliest request that no look has served. */
  requestedAt: Field.optional(Field.time),
  requestedFor: Field.optional(Field.stored(CatchUpOccasion)),
  /** The end of the last look. */
  lookedAt: Field.optional(Field.time),
  occasion: Field.optional(Field.stored(CatchUpOccasion)),
  /** The last look that found something: when, how many changes, and the look before it. */
  foundAt: Field.optional(Field.time),
  found: Field.counter,
  foundSince: Field.optional(Field.time),
  /** Number of changes that the last look left out because of its limits. */
  skipped: Field.counter,
  /** Why the last look did not see everything; the next one begins where it stopped. */
  failure: Field.optional(Field.reason)
})
export type CatchUp = RecordValues<typeof CatchUp>

/** What was seen of a scope: the owner of repositories, a repository, a depot. Marks only grow. */
export const CatchUpMark = record({
  trigger: Field.named("trigger_name", Field.text),
  scope: Field.text,
  /** The mark of the first look; nothing older is reviewed. */
  first: Field.integer,
  /** What is older was seen: a time of the host in milliseconds, or the number of a revision. */
  mark: Field.integer,
  /** Heads of branches that were decided, by branch. */
  tips: Field.optional(Field.json(Schema.Record(Schema.String, Schema.String)))
})
export type CatchUpMark = RecordValues<typeof CatchUpMark>

/** The result of a look. */
export interface CatchUpLook {
  readonly occasion: CatchUpOccasion
  /** Start of the look: requests up to it are served. */
  readonly startedAt: number
  readonly at: number
  readonly found: number
  readonly skipped: number
  readonly failure: CatchUp["failure"]
}

export class CatchUps extends Context.Service<
  CatchUps,
  {
    readonly list: Effect.Effect<ReadonlyArray<CatchUp>, StoreError>
    /** Requests a look at what these triggers missed. A request that waits already stays as it is. */
    readonly request: (
      triggers: ReadonlyArray<string>,
      occasion: CatchUpOccasion,
      now: number
    ) => Effect.Effect<void, StoreError>
    /** Records a look, and ends the requests that it served. */
    readonly looked: (trigger: string, look: CatchUpLook) => Effect.Effect<void, StoreError>
    readonly marks: (trigger: string) => Effect.Effect<ReadonlyArray<CatchUpMark>, StoreError>
    /** Stores what was seen of a scope. The first mark of an existing scope stays, and a smaller mark changes nothing but the tips. */
    readonly mark: (mark: Omit<CatchUpMark, "first">) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/CatchUps") {}

const maxRows = 500

const request =
  (sql: SqlClient.SqlClient): CatchUps["Service"]["request"] =>
  (triggers, occasion, now) => {
    const rows = triggers
      .toSorted()
      .map((trigger) => ({ trigger_name: trigger, requested_at: now, requested_for: occasion }))
    return Effect.forEach(
      Arr.chunksOf(rows, maxRows),
      (some) => sql`
        INSERT INTO catch_ups ${sql.insert(some)}
        ON CONFLICT (trigger_name) DO UPDATE SET
          requested_for = CASE WHEN catch_ups.requested_at IS NULL
            THEN excluded.requested_for ELSE catch_ups.requested_for END,
          requested_at = COALESCE(catch_ups.requested_at, excluded.requested_at)`,
      { discard: true }
    ).pipe(unavailable("catchUps.request"))
  }

const looked =
  (sql: SqlClient.SqlClient): CatchUps["Service"]["looked"] =>
  (trigger, { at, failure, found, occasion, skipped, startedAt }) => {
    const row = {
      trigger_name: trigger,
      looked_at: at,
      occasion,
      skipped,
      failure: CatchUp.toColumn("failure", failure),
      ...(found > 0 ? { found_at: at, found } : { found_at: null, found: null })
    }
    return sql`INSERT INTO catch_ups ${sql.insert(row)}
      ON CONFLICT (trigger_name) DO UPDATE SET
        found_since = CASE WHEN excluded.found_at IS NULL THEN catch_ups.found_since ELSE catch_ups.looked_at END,
        found_at = COALESCE(excluded.found_at, catch_ups.found_at),
        found = COALESCE(excluded.found, catch_ups.found),
        looked_at = excluded.looked_at, occasion = excluded.occasion,
        skipped = excluded.skipped, failure = excluded.failure,
        requested_for = CASE WHEN catch_ups.requested_at <= ${startedAt} THEN NULL ELSE catch_ups.requested_for END,
        requested_at = CASE WHEN catch_ups.requested_at <= ${startedAt} THEN NULL ELSE catch_ups.requested_at END`.pipe(
      Effect.asVoid,
      unavailable("catchUps.looked")
    )
  }

export const layer: Layer.Layer<CatchUps, never, SqlClient.SqlClient> = Layer.effect(
  CatchUps,
  Effect.map(SqlClient.SqlClient, (sql) =>
    CatchUps.of({
      list: selectAs(CatchUp, "catchUps.list", sql`SELECT * FROM catch_ups ORDER BY trigger_name`).pipe(
        unavailable("catchUps.list")
      ),
      request: request(sql),
      looked: looked(sql),
      marks: (trigger) =>
        selectAs(
          CatchUpMark,
          "catchUps.marks",
          sql`SELECT * FROM catch_up_marks WHERE trigger_name = ${trigger} ORDER BY scope`
        ).pipe(unavailable("catchUps.marks")),
      mark: (mark) =>
        sql`INSERT INTO catch_up_marks ${sql.insert(CatchUpMark.toRow({ ...mark, first: mark.mark }))}
          ON CONFLICT (trigger_name, scope) DO UPDATE SET
            mark = CASE WHEN excluded.mark > catch_up_marks.mark THEN excluded.mark ELSE catch_up_marks.mark END,
            tips = COALESCE(excluded.tips, catch_up_marks.tips)`.pipe(Effect.asVoid, unavailable("catchUps.mark"))
    })
  )
)
