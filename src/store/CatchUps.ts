/**
 * Stores how far the hosts of triggers were searched for missed changes (actors/catchup/CatchUp.ts). The table `catch_ups` has one row per
 * trigger: its last search and a requested one. `catch_up_marks` has the progress in each scope of a trigger.
 */
import { Array as Arr, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { StoreError } from "../database/StoreError.ts"
import { selectAs, unavailable } from "../database/sql/StoreFailure.ts"
import { CatchUpOccasion } from "../domain/CatchUpOccasion.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"

export const CatchUp = record({
  trigger: Field.named("trigger_name", Field.text),
  /** The earliest request that no search has served. */
  requestedAt: Field.optional(Field.time),
  requestedFor: Field.optional(Field.stored(CatchUpOccasion)),
  /** The end of the last search. */
  searchedAt: Field.optional(Field.time),
  occasion: Field.optional(Field.stored(CatchUpOccasion)),
  /** The last search that found something: when, how many changes, and the search before it. */
  foundAt: Field.optional(Field.time),
  found: Field.counter,
  foundSince: Field.optional(Field.time),
  /** Occasion of that search. */
  foundFor: Field.optional(Field.stored(CatchUpOccasion)),
  /** Number of changes that the last search did not review because of its limits. */
  skipped: Field.counter,
  /** Set if the last search is incomplete; the next one continues where it stopped. */
  failure: Field.optional(Field.reason)
})
export type CatchUp = RecordValues<typeof CatchUp>

/** Progress in a scope: the owner of repositories, a repository, a depot. Marks only grow. */
export const CatchUpMark = record({
  trigger: Field.named("trigger_name", Field.text),
  scope: Field.text,
  /** The mark of the first search; nothing older is reviewed. */
  first: Field.integer,
  /** A time of the host in milliseconds, or the number of a revision: older changes were read. */
  mark: Field.integer,
  /** Heads of branches that were decided, by branch. */
  tips: Field.optional(Field.json(Schema.Record(Schema.String, Schema.String)))
})
export type CatchUpMark = RecordValues<typeof CatchUpMark>

/** The result of a search. */
export interface CatchUpSearch {
  readonly occasion: CatchUpOccasion
  /** Start of the search: requests up to it are served. */
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
    /** Requests a search for these triggers. A request that waits already does not change. */
    readonly request: (
      triggers: ReadonlyArray<string>,
      occasion: CatchUpOccasion,
      now: number
    ) => Effect.Effect<void, StoreError>
    /** Records a search, and ends the requests that it served. */
    readonly searched: (trigger: string, search: CatchUpSearch) => Effect.Effect<void, StoreError>
    readonly marks: (trigger: string) => Effect.Effect<ReadonlyArray<CatchUpMark>, StoreError>
    /** Stores the progress in a scope. The first mark of an existing scope stays, and a smaller mark changes nothing but the tips. */
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

const searched =
  (sql: SqlClient.SqlClient): CatchUps["Service"]["searched"] =>
  (trigger, { at, failure, found, occasion, skipped, startedAt }) => {
    const row = {
      trigger_name: trigger,
      searched_at: at,
      occasion,
      skipped,
      failure: CatchUp.toColumn("failure", failure),
      ...(found > 0 ? { found_at: at, found, found_for: occasion } : { found_at: null, found: null, found_for: null })
    }
    return sql`INSERT INTO catch_ups ${sql.insert(row)}
      ON CONFLICT (trigger_name) DO UPDATE SET
        found_since = CASE WHEN excluded.found_at IS NULL THEN catch_ups.found_since ELSE catch_ups.searched_at END,
        found_at = COALESCE(excluded.found_at, catch_ups.found_at),
        found = COALESCE(excluded.found, catch_ups.found),
        found_for = COALESCE(excluded.found_for, catch_ups.found_for),
        searched_at = excluded.searched_at, occasion = excluded.occasion,
        skipped = excluded.skipped, failure = excluded.failure,
        requested_for = CASE WHEN catch_ups.requested_at <= ${startedAt} THEN NULL ELSE catch_ups.requested_for END,
        requested_at = CASE WHEN catch_ups.requested_at <= ${startedAt} THEN NULL ELSE catch_ups.requested_at END`.pipe(
      Effect.asVoid,
      unavailable("catchUps.searched")
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
      searched: searched(sql),
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
