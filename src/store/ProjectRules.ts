/**
 * Uses of the rules of repositories, and their health. A rule whose file has another content is counted from the beginning. The table is
 * `project_rules`; the findings that cite rules are in `finding_outcomes`.
 */
import { Array as Arr, Context, Effect, Layer, Order } from "effect"
import { SqlClient } from "effect/sql"
import { repositoryKey } from "../domain/Change.ts"
import { RuleHealth, StoredRule } from "../domain/RuleHealth.ts"
import { deleteInSteps } from "../database/sql/DeleteInSteps.ts"
import { selectAs, unavailable } from "../database/sql/StoreFailure.ts"
import type { StoreError } from "../database/StoreError.ts"
import type { Run } from "./Runs.ts"
import { isJudgement } from "./runs/SqlJudged.ts"

/** Maximum number of rules that are returned. */
export const maxListedRules = 2_000

interface RuleFilter {
  /** `<trigger>:<repository>`, case-folded. */
  readonly repository?: string | undefined
  /** Only rules that were muted since then (milliseconds since the epoch). */
  readonly mutedSince?: number | undefined
}

export class ProjectRules extends Context.Service<
  ProjectRules,
  {
    /** Returns the health of rules by repository and id. */
    readonly health: (filter: RuleFilter) => Effect.Effect<ReadonlyArray<RuleHealth>, StoreError>
  }
>()("aicr/store/ProjectRules") {}

/** Two nodes that write rows in the same order never wait for each other. */
const inOrder = Order.mapInput(Order.String, ({ id }: Readonly<Record<string, unknown>>) => String(id))

/** Counts the rules of a published review. Called in the transaction that ends the run, which happens once. */
export const recordRules = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { analysis, change }: Run,
  now: number
) {
  const rules = analysis?.rules ?? []
  if (!Arr.isReadonlyArrayNonEmpty(rules)) return
  const repository = repositoryKey(change)
  const rows = Arr.map(rules, ({ muted, ...rule }) =>
    StoredRule.toRow({
      repository,
      ...rule,
      used: muted === true ? 0 : 1,
      firstUsedAt: now,
      lastUsedAt: now,
      mutedAt: muted === true ? now : undefined
    })
  )
  const isSame = sql`project_rules.digest = excluded.digest`
  yield* sql`
    INSERT INTO project_rules ${sql.insert(Arr.sort(rows, inOrder))}
    ON CONFLICT (repository, id) DO UPDATE SET
      severity = excluded.severity, owner = excluded.owner, floor = excluded.floor,
      used = CASE WHEN ${isSame} THEN project_rules.used + excluded.used ELSE excluded.used END,
      first_used_at = CASE WHEN ${isSame} THEN project_rules.first_used_at ELSE excluded.first_used_at END,
      last_used_at = excluded.last_used_at,
      muted_at = CASE WHEN ${isSame} AND excluded.muted_at IS NOT NULL
        THEN COALESCE(project_rules.muted_at, excluded.muted_at) ELSE excluded.muted_at END,
      digest = excluded.digest`
})

/** Removes rules that no review has used since then. */
export const pruneRules = (sql: SqlClient.SqlClient, before: number) =>
  deleteInSteps(
    (step) => sql`
      DELETE FROM project_rules WHERE (repository, id) IN (
        SELECT repository, id FROM project_rules WHERE last_used_at < ${before} LIMIT ${step})
      RETURNING id`
  )

const health =
  (sql: SqlClient.SqlClient): ProjectRules["Service"]["health"] =>
  ({ mutedSince, repository }) => {
    const repaired = sql`f.outcome IN ('fixed', 'partly')`
    const judged = isJudgement(sql)
    return selectAs(
      RuleHealth,
      "rules.health",
      sql`
        SELECT r.repository, r.id, r.digest, r.severity, r.owner, r.floor, r.used, r.first_used_at, r.last_used_at,
          r.muted_at, COUNT(f.fingerprint) AS findings,
          SUM(CASE WHEN ${repaired} THEN 1 ELSE 0 END) AS accepted,
          SUM(CASE WHEN f.outcome = 'dismissed' THEN 1 ELSE 0 END) AS dismissed,
          SUM(CASE WHEN f.outcome = 'open_at_merge' THEN 1 ELSE 0 END) AS ignored,
          SUM(CASE WHEN ${judged} THEN 1 ELSE 0 END) AS judged,
          SUM(CASE WHEN ${judged} AND ${repaired} THEN 1 ELSE 0 END) AS judged_accepted
        FROM project_rules r
        LEFT JOIN finding_outcomes f
          ON f.repository = r.repository AND f.rule = r.id AND f.found_at >= r.first_used_at
        WHERE ${repository === undefined ? sql`1 = 1` : sql`r.repository = ${repository}`}
          AND ${mutedSince === undefined ? sql`1 = 1` : sql`r.muted_at >= ${mutedSince}`}
        GROUP BY r.repository, r.id ORDER BY r.repository, r.id LIMIT ${maxListedRules}`
    ).pipe(unavailable("rules.health"))
  }

export const layer: Layer.Layer<ProjectRules, never, SqlClient.SqlClient> = Layer.effect(
  ProjectRules,
  Effect.map(SqlClient.SqlClient, (sql) => ProjectRules.of({ health: health(sql) }))
)
