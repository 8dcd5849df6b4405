/** Orders of lists by id, which is that of creation: newest first unless `oldestFirst`. */
import type { SqlClient, Statement } from "effect/sql"

/** The part of a list that follows a record. */
export interface IdRange {
  /** Lists records with smaller ids. */
  readonly before?: string | undefined
  /** Lists records with larger ids. */
  readonly after?: string | undefined
  readonly oldestFirst?: boolean | undefined
}

/** Returns the conditions of a range on a column of ids. */
export const idConditions = (
  sql: SqlClient.SqlClient,
  { after, before }: IdRange,
  column = "id"
): ReadonlyArray<Statement.Fragment> => [
  ...(before === undefined ? [] : [sql`${sql(column)} < ${before}`]),
  ...(after === undefined ? [] : [sql`${sql(column)} > ${after}`])
]

export const direction = (sql: SqlClient.SqlClient, { oldestFirst = false }: IdRange): Statement.Fragment =>
  sql.literal(oldestFirst ? "ASC" : "DESC")
