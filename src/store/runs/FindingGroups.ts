/** Counts findings by what they are about or where they were found, in a period and in the one before it. */
import type { SqlClient } from "effect/sql"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { FindingGroup } from "../Outcomes.ts"
import type { FindingGrouping, Outcomes } from "../Outcomes.ts"

/** Maximum number of groups, those with the most findings first. */
const maxGroups = 200

const columns: Readonly<Record<FindingGrouping, string>> = {
  category: "category",
  severity: "severity",
  rule: "rule",
  repository: "finding_outcomes.repository",
  workspace: "projects.workspace"
}

export const groups =
  (sql: SqlClient.SqlClient): Outcomes["Service"]["groups"] =>
  ({ by, since, until }) => {
    const name = sql.literal(columns[by])
    const before = Math.max(0, since - (until - since))
    const sum = (isBefore: boolean, outcome?: string) =>
      sql`SUM(CASE WHEN found_at ${sql.literal(isBefore ? "<" : ">=")} ${since} ${outcome === undefined ? sql.literal("") : sql`AND outcome = ${outcome}`} THEN 1 ELSE 0 END)`
    return selectAs(
      FindingGroup,
      "outcomes.groups",
      sql`
        SELECT ${name} AS name, ${sum(false)} AS found, ${sum(false, "fixed")} AS fixed, ${sum(false, "dismissed")} AS dismissed,
          ${sum(false, "withdrawn")} AS withdrawn, ${sum(true)} AS found_before, ${sum(true, "fixed")} AS fixed_before,
          ${sum(true, "dismissed")} AS dismissed_before
        FROM finding_outcomes ${by === "workspace" ? sql.literal("JOIN projects ON projects.id = finding_outcomes.project") : sql.literal("")}
        WHERE found_at >= ${before} AND found_at < ${until} AND ${name} IS NOT NULL
        GROUP BY ${name} ORDER BY found DESC, name LIMIT ${maxGroups}`
    ).pipe(unavailable("outcomes.groups"))
  }
