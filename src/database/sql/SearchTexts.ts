/**
 * Searches the texts of a table (domain/SearchText.ts) part by part: each request reads at most 20,000 of them, from an index that has them in the
 * order of ids, and takes 16 ms of processor time for them.
 */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Field from "../../domain/Field.ts"
import { record } from "../../domain/Record.ts"
import { direction } from "./ListOrder.ts"
import type { IdRange } from "./ListOrder.ts"
import { selectAs } from "./StoreFailure.ts"

const maxSearched = 20_000

const Searched = record({ count: Field.sum, last: Field.optional(Field.text) })

export const escapeLike = (term: string): string => term.replace(/[\\%_]/g, (found) => `\\${found}`)

interface TextQuery extends IdRange {
  readonly terms: ReadonlyArray<string>
  readonly limit: number
}

/** Records with texts: a part of the table is read in the order of ids. */
interface SearchedTable {
  readonly table: "runs" | "events"
  /** Conditions on ids and on what the index has. */
  readonly range: Statement.Fragment
  /** Conditions on the records whose texts have the terms. */
  readonly filter: Statement.Fragment
}

/** Selects columns of the next records of a list, which an index has. */
const nextRecords = (
  sql: SqlClient.SqlClient,
  columns: "id" | "id, search",
  { range, table }: SearchedTable,
  search: TextQuery
) =>
  sql`(SELECT ${sql.literal(columns)} FROM ${sql(table)} WHERE ${range} ORDER BY id ${direction(sql, search)} LIMIT ${maxSearched}) AS texts`

/** Selects the records whose texts have all terms. */
export const selectFound = (sql: SqlClient.SqlClient, searched: SearchedTable, search: TextQuery) => {
  const { limit, terms } = search
  const order = direction(sql, search)
  const table = sql(searched.table)
  const found = sql.and(terms.map((term) => sql`texts.search LIKE ${`%${escapeLike(term)}%`} ESCAPE '\\'`))
  return sql`
    SELECT * FROM ${table} WHERE id IN (
      SELECT texts.id FROM ${nextRecords(sql, "id, search", searched, search)}
      WHERE ${found} AND EXISTS (SELECT 1 FROM ${table} WHERE ${table}.id = texts.id AND ${searched.filter})
      ORDER BY texts.id ${order} LIMIT ${limit})
    ORDER BY id ${order}`
}

/** Returns the id of the last record of the part that was read, of which `found` were found; undefined if the list ends there, or the limit was reached before. */
export const readEnd = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  operation: string,
  searched: SearchedTable,
  search: TextQuery,
  found: number
) {
  if (found >= search.limit) return undefined
  const last = sql.literal(search.oldestFirst === true ? "MAX" : "MIN")
  const [end] = yield* selectAs(
    Searched,
    operation,
    sql`SELECT COUNT(*) AS count, ${last}(id) AS last FROM ${nextRecords(sql, "id", searched, search)}`
  )
  return (end?.count ?? 0) < maxSearched ? undefined : end?.last
})
