/** Counts findings by what they are about, where they were found or who wrote the change, in a period and in the one before it. */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { selectAs, unavailable } from "../../database/sql/StoreFailure.ts"
import { canonicalCategory } from "../../domain/CanonicalCategory.ts"
import { FindingGroup } from "../Outcomes.ts"
import type { FindingGrouping, Outcomes } from "../Outcomes.ts"

/** Maximum number of groups, those with the most findings first. */
const maxGroups = 200

const columns: Readonly<Record<FindingGrouping, string>> = {
  category: "category",
  severity: "severity",
  rule: "rule",
  repository: "finding_outcomes.repository",
  workspace: "projects.workspace",
  team: "finding_outcomes.team"
}

interface Grouped {
  readonly name: Statement.Fragment
  /** Joined table, and a condition. */
  readonly join: Statement.Fragment
  readonly where: Statement.Fragment
  readonly since: number
  readonly until: number
}

const count = (sql: SqlClient.SqlClient, operation: string, { join, name, since, until, where }: Grouped) => {
  const before = Math.max(0, since - (until - since))
  const sum = (isBefore: boolean, outcome?: string) =>
    sql`SUM(CASE WHEN found_at ${sql.literal(isBefore ? "<" : ">=")} ${since} ${outcome === undefined ? sql.literal("") : sql`AND outcome = ${outcome}`} THEN 1 ELSE 0 END)`
  return selectAs(
    FindingGroup,
    operation,
    sql`
      SELECT ${name} AS name, ${sum(false)} AS found, ${sum(false, "fixed")} AS fixed, ${sum(false, "dismissed")} AS dismissed,
        ${sum(false, "withdrawn")} AS withdrawn, ${sum(true)} AS found_before, ${sum(true, "fixed")} AS fixed_before,
        ${sum(true, "dismissed")} AS dismissed_before
      FROM finding_outcomes ${join}
      WHERE found_at >= ${before} AND found_at < ${until} AND ${name} IS NOT NULL AND ${where}
      GROUP BY ${name} ORDER BY found DESC, name LIMIT ${maxGroups}`
  ).pipe(unavailable(operation))
}

type Group = Effect.Success<ReturnType<typeof count>>[number]

const add = (a: Group, b: Group): Group => ({
  name: a.name,
  found: a.found + b.found,
  fixed: a.fixed + b.fixed,
  dismissed: a.dismissed + b.dismissed,
  withdrawn: a.withdrawn + b.withdrawn,
  foundBefore: a.foundBefore + b.foundBefore,
  fixedBefore: a.fixedBefore + b.fixedBefore,
  dismissedBefore: a.dismissedBefore + b.dismissedBefore
})

/** Adds the counts of categories for which models use several names. */
const mergeCategories = (found: ReadonlyArray<Group>): ReadonlyArray<Group> => {
  const merged = new Map<string, Group>()
  for (const group of found) {
    const name = canonicalCategory(group.name)
    const earlier = merged.get(name)
    merged.set(name, earlier === undefined ? { ...group, name } : add(earlier, group))
  }
  return [...merged.values()].toSorted((a, b) => b.found - a.found || (a.name < b.name ? -1 : 1))
}

export const groups =
  (sql: SqlClient.SqlClient): Outcomes["Service"]["groups"] =>
  ({ by, since, team, until }) =>
    count(sql, "outcomes.groups", {
      name: sql.literal(columns[by]),
      join: sql.literal(by === "workspace" ? "JOIN projects ON projects.id = finding_outcomes.project" : ""),
      where: team === undefined ? sql`1 = 1` : sql`finding_outcomes.team = ${team}`,
      since,
      until
    }).pipe(Effect.map((found) => (by === "category" ? mergeCategories(found) : found)))

/** The author is read from the record of the run, so that no record of its own remains when that of the run is removed. */
export const authors =
  (sql: SqlClient.SqlClient): Outcomes["Service"]["authors"] =>
  ({ since, until }) => {
    const author = sql.onDialectOrElse({
      // Postgres reads no JSON with the character NUL or half a surrogate pair, which texts of a change may have. A name with an escape is shown with it.
      pg: () =>
        sql.literal(String.raw`LOWER(SUBSTRING(runs.change FROM '"author":\{[^{}]*?"username":"((?:[^"\\]|\\.)*)"'))`),
      orElse: () => sql.literal("LOWER(json_extract(runs.change, '$.author.username'))")
    })
    return count(sql, "outcomes.authors", {
      name: sql`runs.trigger_name || ':' || ${author}`,
      join: sql.literal("JOIN runs ON runs.id = finding_outcomes.found_in"),
      where: sql`1 = 1`,
      since,
      until
    })
  }
