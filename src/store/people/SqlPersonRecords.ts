/**
 * Erases a person in the tables of records (PersonTables.ts), in parts of the order of their keys, each in one transaction. A row is only changed
 * if it still has the values that were read, so that no other write is lost.
 */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError, Statement } from "effect/sql"
import { unavailable } from "../../database/sql/StoreFailure.ts"
import * as Erase from "../../domain/PersonErasure.ts"
import type { ErasedPerson, Relation } from "../../domain/PersonErasure.ts"
import { Objects } from "../Objects.ts"
import { maxListedComments, personFamilies, PersonRecords } from "../PersonRecords.ts"
import type { PersonFamily, PersonFound } from "../PersonRecords.ts"
import { escapeLike } from "../../database/sql/SearchTexts.ts"
import { personTables } from "./PersonTables.ts"
import type { PersonTable } from "./PersonTables.ts"

/** Rows whose keys one step covers. */
const stepRows = 500

type Row = Readonly<Record<string, unknown>>

/** Collects the results of a scan. */
class Tally {
  readonly counts = new Map<PersonFamily, number>()
  unfinished = 0
  comments = 0
  readonly urls: Array<string> = []

  add(family: PersonFamily, count: number): void {
    this.counts.set(family, (this.counts.get(family) ?? 0) + count)
  }

  note({ kind, status, url }: Row): void {
    if (status !== "sent" || typeof url !== "string" || kind === "Status" || kind === "Statement") return
    this.comments += 1
    if (this.urls.length < maxListedComments) this.urls.push(url)
  }

  get found(): PersonFound {
    const counts = personFamilies.map((family) => [family, this.counts.get(family) ?? 0] as const)
    return {
      counts: Object.fromEntries(counts) as PersonFound["counts"],
      unfinished: this.unfinished,
      comments: { count: this.comments, urls: this.urls }
    }
  }
}

interface Scan {
  readonly sql: SqlClient.SqlClient
  readonly person: ErasedPerson
  readonly erases: boolean
  readonly tally: Tally
}

/** Condition that is true of rows whose key follows `after`, or is at most `last`. */
const keyIs = (
  sql: SqlClient.SqlClient,
  key: ReadonlyArray<string>,
  beyond: ">" | "<=",
  values: ReadonlyArray<unknown>
) =>
  sql`(${sql.literal(key.map((column) => `part.${column}`).join(", "))}) ${sql.literal(beyond)} (${sql.csv(
    values.map((value) => sql`${value as string}`)
  )})`

/** Whether the person acted on the pull request of a row, according to a delivery. */
const isInvolved = ({ person, sql }: Scan, { pull }: PersonTable) => {
  if (pull === undefined || person.kind !== "account") return sql`0`
  const name = person.name.toLowerCase()
  return sql`CASE WHEN EXISTS (
    SELECT 1 FROM events acted WHERE acted.number = ${sql.literal(pull.number)} AND acted.trigger_name = ${person.trigger ?? ""}
      AND LOWER(acted.repo) = ${sql.literal(pull.repo)}
      AND (LOWER(acted.author) = ${name} OR LOWER(acted.sender) = ${name} OR LOWER(acted.pusher) = ${name})) THEN 1 ELSE 0 END`
}

/** Selects the rows of a part that can have to do with the person. */
const select = (scan: Scan, table: PersonTable, range: Statement.Fragment) => {
  const { person, sql } = scan
  const texts = [
    ...Object.keys(table.columns).map((column) => `part.${column}`),
    ...(table.change ? [table.change] : [])
  ]
  const all = texts.map((text) => `COALESCE(CAST(${text} AS TEXT), '')`).join(" || ' ' || ")
  const named = sql`LOWER(${sql.literal(all)}) LIKE ${`%${escapeLike(person.name.toLowerCase())}%`} ESCAPE '\\'`
  const involved = isInvolved(scan, table)
  return sql<Row>`SELECT * FROM (
    SELECT part.*, CASE WHEN ${sql.literal(table.ended)} THEN 1 ELSE 0 END AS person_ended,
      ${sql.literal(table.trigger ?? "NULL")} AS person_trigger, ${sql.literal(table.change ?? "NULL")} AS person_change,
      ${involved} AS person_involved, CASE WHEN ${named} THEN 1 ELSE 0 END AS person_named
    FROM ${sql(table.table)} part WHERE ${range}) found
    WHERE person_involved = 1 OR person_named = 1`
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** Whether the names of a row are those of accounts at the host of the person. */
const isOfHost = ({ trigger }: ErasedPerson, row: Row, table: PersonTable): boolean => {
  if (trigger === undefined || (table.trigger === undefined && table.change === undefined)) return true
  const key = textOf(row["person_trigger"])
  const change = textOf(row["person_change"]) ?? ""
  const quoted = JSON.stringify(trigger)
  return (
    key === trigger ||
    key?.startsWith(`${trigger}:`) === true ||
    change.includes(`"host":${quoted}`) ||
    change.includes(`"trigger":${quoted}`)
  )
}

const relationOf = (person: ErasedPerson, row: Row): Relation => {
  if (Erase.isOwnChangeJson(person, textOf(row["person_change"]) ?? null)) return "own"
  return Number(row["person_involved"]) === 1 ? "involved" : "other"
}

/** Returns the new values of the columns that change. */
const changesOf = (person: ErasedPerson, table: PersonTable, row: Row, relation: Relation): Row => {
  const changed: Record<string, string> = {}
  for (const [column, erase] of Object.entries(table.columns)) {
    const text = textOf(row[column])
    const erased = text === undefined ? undefined : erase(person, text, { relation, values: row })
    if (erased !== undefined && erased !== text) changed[column] = erased
  }
  if (table.search === undefined || Object.keys(changed).length === 0) return changed
  return { ...changed, search: table.search({ ...row, ...changed }) }
}

/** Changes or removes a row that still has the values that were read. Returns whether it had. */
const write = Effect.fnUntraced(function* ({ sql }: Scan, table: PersonTable, row: Row, changed: Row) {
  const isSame = (column: string) => sql`${sql(column)} IS NOT DISTINCT FROM ${row[column] as string | null}`
  const isRow = sql.and([...table.key, ...Object.keys(changed).filter((column) => column !== "search")].map(isSame))
  const [first = ""] = table.key
  const written =
    table.removes === true
      ? sql`DELETE FROM ${sql(table.table)} WHERE ${isRow} RETURNING ${sql(first)}`
      : sql`UPDATE ${sql(table.table)} SET ${sql.update(changed)} WHERE ${isRow} RETURNING ${sql(first)}`
  return (yield* written).length > 0
})

/** Handles one row. Returns whether it is, or would be, changed. */
const handle = Effect.fnUntraced(function* (scan: Scan, table: PersonTable, row: Row) {
  const person = table.kind === scan.person.kind ? Erase.withoutPrefix(scan.person) : scan.person
  if (!isOfHost(person, row, table)) return false
  const relation = relationOf(person, row)
  if (table.family === "publications" && relation !== "other") scan.tally.note(row)
  if (table.family === "prompts") return yield* handlePrompts(scan, row, relation)
  const changed = changesOf(person, table, row, relation)
  const isAffected = Object.keys(changed).length > 0 || (table.removes === true && relation !== "other")
  if (!isAffected) return false
  if (Number(row["person_ended"]) !== 1) {
    scan.tally.unfinished += 1
    return false
  }
  return scan.erases ? yield* write(scan, table, row, changed) : true
})

/** Handles the stored prompts, responses and files of a review. */
const handlePrompts = Effect.fnUntraced(function* ({ erases }: Scan, row: Row, relation: Relation) {
  if (relation === "other" || Number(row["person_ended"]) !== 1) return false
  const objects = yield* Objects
  const folder = `runs/${String(row["id"])}`
  if ((yield* objects.list(folder)).length === 0) return false
  if (erases) yield* objects.remove(folder)
  return true
})

/** Handles the rows of a table whose keys follow `after`. Returns the last key; undefined at the end. */
const step = Effect.fnUntraced(function* (scan: Scan, table: PersonTable, after: ReadonlyArray<unknown> | undefined) {
  const { sql, tally } = scan
  const key = sql.literal(table.key.map((column) => `part.${column}`).join(", "))
  const follows = after === undefined ? sql`1 = 1` : keyIs(sql, table.key, ">", after)
  const ends =
    yield* sql<Row>`SELECT ${key} FROM ${sql(table.table)} part WHERE ${follows} ORDER BY ${key} LIMIT ${stepRows}`
  const end = ends.at(-1)
  if (end === undefined) return undefined
  const last = table.key.map((column) => end[column])
  const rows = yield* select(scan, table, sql.and([follows, keyIs(sql, table.key, "<=", last)]))
  let count = 0
  for (const row of rows) if (yield* handle(scan, table, row)) count += 1
  tally.add(table.family, count)
  return ends.length < stepRows ? undefined : last
})

const scanTable = Effect.fnUntraced(function* (scan: Scan, table: PersonTable) {
  let after: ReadonlyArray<unknown> | undefined
  do {
    const next = step(scan, table, after)
    after = yield* scan.erases && table.family !== "prompts" ? scan.sql.withTransaction(next) : next
    yield* Effect.yieldNow
  } while (after !== undefined)
})

/** Handles the accounts of budgets and limits of an author, which are named after the person. */
const scanBudgets = Effect.fnUntraced(function* (scan: Scan): Effect.fn.Return<void, SqlError.SqlError> {
  const { erases, person, sql, tally } = scan
  if (person.trigger === undefined) return
  const suffix = `:${person.trigger}:${person.name.toLowerCase()}`
  const isTheirs = (column: string) =>
    sql`(${sql(column)} LIKE 'author:%' OR ${sql(column)} LIKE 'count:%') AND ${sql(column)} LIKE ${`%${escapeLike(suffix)}`} ESCAPE '\\'`
  const accounts = yield* sql<{
    readonly id: string
    readonly committed: number
    readonly updated_at: number
    readonly open: number
  }>`
    SELECT id, committed, updated_at, CASE WHEN EXISTS (
      SELECT 1 FROM ledger_reservations r WHERE r.author_account = ledger_accounts.id AND r.status = 'open') THEN 1 ELSE 0 END AS open
    FROM ledger_accounts WHERE ${isTheirs("id")}`
  for (const { committed, id, open, updated_at } of accounts) {
    if (Number(open) === 1) {
      tally.unfinished += 1
      continue
    }
    tally.add("budgets", 1)
    if (!erases) continue
    const renamed = `${id.slice(0, id.length - person.name.length)}${Erase.erasedName}`
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`UPDATE ledger_reservations SET author_account = ${renamed} WHERE author_account = ${id}`
        yield* sql`DELETE FROM ledger_accounts WHERE id = ${id}`
        yield* sql`INSERT INTO ledger_accounts ${sql.insert({ id: renamed, committed, updated_at })}
          ON CONFLICT (id) DO UPDATE SET committed = ledger_accounts.committed + excluded.committed`
      })
    )
  }
})

export const layer: Layer.Layer<PersonRecords, never, SqlClient.SqlClient> = Layer.effect(
  PersonRecords,
  Effect.map(SqlClient.SqlClient, (sql) =>
    PersonRecords.of({
      scan: Effect.fnUntraced(function* (person, erases) {
        const scan: Scan = { sql, person, erases, tally: new Tally() }
        for (const table of personTables) yield* scanTable(scan, table)
        yield* scanBudgets(scan)
        return scan.tally.found
      }, unavailable("person_records.scan"))
    })
  )
)
