/**
 * Verdicts about commits (domain/HeadVerdict.ts), in the column `verdict` of runs. Those of removed runs move to the table `head_verdicts`,
 * which keeps the last one of each pull request and base branch.
 */
import { Array as Arr, Effect, Option, Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { foldRepo } from "../../domain/Change.ts"
import { HeadVerdict, RunVerdict } from "../../domain/HeadVerdict.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { ReviewedChange, ReviewedHead } from "../Runs.ts"
import type { Runs } from "../Runs.ts"

const decodeVerdict = Schema.decodeUnknownOption(Schema.fromJsonString(RunVerdict))

export const headVerdicts =
  (sql: SqlClient.SqlClient): Runs["Service"]["headVerdicts"] =>
  (head, repo) =>
    selectAs(
      HeadVerdict,
      "runs.headVerdicts",
      sql`
        SELECT id AS run_id, target_key, trigger_name, number, base_ref, verdict FROM runs
        WHERE head = ${head} AND repo = ${foldRepo(repo)} AND verdict IS NOT NULL
        UNION ALL
        SELECT run_id, target_key, trigger_name, number, NULLIF(base_ref, ''), verdict FROM head_verdicts
        WHERE head = ${head} AND repo = ${foldRepo(repo)}`
    ).pipe(unavailable("runs.headVerdicts"))

export const reviewedHeads =
  (sql: SqlClient.SqlClient): Runs["Service"]["reviewedHeads"] =>
  (heads) =>
    selectAs(
      ReviewedHead,
      "runs.reviewedHeads",
      sql`
        SELECT head, repo, target_key, base_ref FROM runs WHERE ${sql.in("head", heads)} AND verdict IS NOT NULL
        UNION
        SELECT head, repo, target_key, NULLIF(base_ref, '') FROM head_verdicts WHERE ${sql.in("head", heads)}`
    ).pipe(unavailable("runs.reviewedHeads"))

export const reviewed =
  (sql: SqlClient.SqlClient): Runs["Service"]["reviewed"] =>
  (changes) =>
    selectAs(
      ReviewedChange,
      "runs.reviewed",
      sql`
        SELECT id, target_key, head, base_ref FROM runs
        WHERE ${sql.in("target_key", [...new Set(changes.map(({ targetKey }) => targetKey))])}
          AND ${sql.in("head", [...new Set(changes.map(({ head }) => head))])}
          AND newest = 1 AND status IN ('publishing', 'succeeded')`
    ).pipe(unavailable("runs.reviewed"))

/** Columns of a removed run. */
export interface RemovedRun {
  readonly id: string
  readonly head: string
  readonly repo: string | null
  readonly target_key: string
  readonly trigger_name: string | null
  readonly number: number | null
  readonly base_ref: string | null
  readonly verdict: string | null
  readonly finished_at: number | null
}

const rowsPerInsert = 200

/** Returns the row of a verdict. A run without a verdict, or with an unreadable one, has none. */
const toRow = (run: RemovedRun) => {
  if (run.verdict === null) return []
  return Option.toArray(decodeVerdict(run.verdict)).map(() => ({
    head: run.head,
    repo: run.repo ?? "",
    target_key: run.target_key,
    base_ref: run.base_ref ?? "",
    run_id: run.id,
    trigger_name: run.trigger_name ?? "",
    number: run.number,
    verdict: run.verdict,
    finished_at: run.finished_at ?? 0
  }))
}

/** Keeps the verdicts of runs that are removed, in the transaction that removes them. */
export const keepVerdicts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  removed: ReadonlyArray<RemovedRun>
): Effect.fn.Return<void, SqlError.SqlError> {
  const rows = removed.toSorted((one, other) => (one.id < other.id ? -1 : 1)).flatMap(toRow)
  if (rows.length === 0) return
  const last = new Map(rows.map((row) => [JSON.stringify([row.head, row.repo, row.target_key, row.base_ref]), row]))
  for (const chunk of Arr.chunksOf([...last.values()], rowsPerInsert)) {
    yield* sql`
      INSERT INTO head_verdicts ${sql.insert(chunk)}
      ON CONFLICT (head, repo, target_key, base_ref) DO UPDATE
      SET run_id = excluded.run_id, verdict = excluded.verdict, finished_at = excluded.finished_at
      WHERE excluded.run_id > head_verdicts.run_id`
  }
})

/** Removes verdicts of runs that ended before this time. */
export const pruneVerdicts = (sql: SqlClient.SqlClient, before: number): Effect.Effect<unknown, SqlError.SqlError> =>
  sql`DELETE FROM head_verdicts WHERE finished_at < ${before}`
