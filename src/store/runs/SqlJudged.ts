/** Reads judged findings (domain/JudgedFinding.ts) from the table `finding_outcomes`. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { JudgedFinding } from "../../domain/JudgedFinding.ts"
import type { JudgedCounts } from "../../domain/JudgedFinding.ts"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import type { Outcomes } from "../Outcomes.ts"

/** Newest findings of a category, severity and model, of which some of one change do not count. */
const maxPerGroup = 80
const maxFindings = 2000
/** Newest findings of all repositories. */
const maxEverywhere = 5000

/** Outcomes that count: neither the author of a change nor an account without the permission decides them. */
export const isJudgement = (sql: SqlClient.SqlClient) => sql`
  ((outcome = 'dismissed' AND dismissed_by = 'maintainer')
    OR (merged_by = 'maintainer' AND outcome IN ('fixed', 'partly', 'open_at_merge')))`

/** Outcomes that count for acceptance: everybody may read about them, and an operator has not reset them. */
const isJudged = (sql: SqlClient.SqlClient) => sql`private IS NULL AND forgotten = 0 AND ${isJudgement(sql)}`

const judgement = (sql: SqlClient.SqlClient) => sql`
  CASE WHEN outcome = 'dismissed' THEN 'dismissed' WHEN outcome IN ('fixed', 'partly') THEN 'accepted' ELSE 'ignored' END`

export const judged =
  (sql: SqlClient.SqlClient): Outcomes["Service"]["judged"] =>
  (repository) =>
    selectAs(
      JudgedFinding,
      "outcomes.judged",
      sql`
        SELECT target_key, category, severity, model, path, title, judgement, decided_at, restricted FROM (
          SELECT target_key, fingerprint, category, severity, model, path, title, ${judgement(sql)} AS judgement, decided_at, restricted,
            ROW_NUMBER() OVER (
              PARTITION BY category, severity, model ORDER BY decided_at DESC, target_key, fingerprint) AS place
          FROM finding_outcomes WHERE repository = ${repository} AND ${isJudged(sql)}) AS ranked
        WHERE place <= ${maxPerGroup} ORDER BY decided_at DESC, target_key, fingerprint LIMIT ${maxFindings}`
    ).pipe(unavailable("outcomes.judged"))

export const judgedEverywhere = (sql: SqlClient.SqlClient): Outcomes["Service"]["judgedEverywhere"] =>
  sql<Record<keyof JudgedCounts, string>>`
    SELECT category, severity, COUNT(*) AS judged, SUM(CASE WHEN judgement = 'accepted' THEN 1 ELSE 0 END) AS accepted FROM (
      SELECT category, severity, ${judgement(sql)} AS judgement FROM finding_outcomes WHERE ${isJudged(sql)}
      ORDER BY decided_at DESC LIMIT ${maxEverywhere}) AS newest
    GROUP BY category, severity`.pipe(
    // Postgres returns sums as texts.
    Effect.map((rows) => rows.map((row) => ({ ...row, judged: Number(row.judged), accepted: Number(row.accepted) }))),
    unavailable("outcomes.judgedEverywhere")
  )

export const forgetJudged =
  (sql: SqlClient.SqlClient): Outcomes["Service"]["forgetJudged"] =>
  (repository, categories) =>
    Effect.map(
      sql`
        UPDATE finding_outcomes SET forgotten = 1
        WHERE repository = ${repository} AND ${isJudged(sql)}
          AND ${categories === undefined ? sql`1 = 1` : sql.in("category", categories)}
        RETURNING fingerprint`,
      (rows) => rows.length
    ).pipe(unavailable("outcomes.forgetJudged"))
