/**
 * Schema of the record store: named steps in order, each a list of statements per database (`schema/`). A released step never changes: a new
 * one is added. Until the tag 0.1.0 exists there is one step, and it is edited. The digest of each applied step is stored with it, so that a
 * database of another form is refused, and never changed. `storage.database.migrate`: `auto` applies missing steps at start; `verify` refuses
 * to start instead. Both refuse a database that a newer release has changed.
 */
import { createHash } from "node:crypto"
import { Clock, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { unlimited } from "../../database/postgres/Unlimited.ts"
import { StoreError } from "../../database/StoreError.ts"
import { unavailable } from "../../database/sql/StoreFailure.ts"
import type { Reason } from "../../domain/Reason.ts"
import { administration } from "./Administration.ts"
import { catchUps } from "./CatchUps.ts"
import { chat } from "./Chat.ts"
import { deliveries } from "./Deliveries.ts"
import type { Dialect, Statements } from "./Dialect.ts"
import { inventories } from "./Inventories.ts"
import { batches, notices, publishing } from "./Publishing.ts"
import { findings, runs } from "./Runs.ts"
import { statistics } from "./Statistics.ts"

/** Statements of steps by name, in order. */
export type SchemaSteps = Readonly<Record<string, Statements>>

const parts = [
  deliveries,
  catchUps,
  inventories,
  runs,
  findings,
  publishing,
  batches,
  notices,
  statistics,
  administration,
  chat
]

/** Steps of this release. */
export const all: SchemaSteps = { "0001_schema": (dialect) => parts.flatMap((part) => part(dialect)) }

const table = "aicr_migrations"

export interface MigrationStatus {
  readonly applied: ReadonlyArray<string>
  readonly pending: ReadonlyArray<string>
  /** SchemaSteps in the database that are unknown to this release. */
  readonly unknown: ReadonlyArray<string>
  /** Applied steps that have other statements in this release: a build before the first release made the database. */
  readonly different: ReadonlyArray<string>
}

/** Status of a database that does not exist yet. */
export const untouched: MigrationStatus = { applied: [], pending: Object.keys(all), unknown: [], different: [] }

/** Returns the digest of the statements, in hex: what is stored with an applied step. */
const digestOf = (statements: ReadonlyArray<string>): string =>
  createHash("sha256").update(JSON.stringify(statements)).digest("hex")

const dialectOf = (sql: SqlClient.SqlClient): Dialect =>
  sql.onDialectOrElse<Dialect, Dialect>({ sqlite: () => "sqlite", orElse: () => "postgres" })

/** A row of the table. Builds before the first release stored no digest. */
interface AppliedStep {
  readonly name: string
  readonly digest?: string
}

const readStatus = (steps: SchemaSteps): Effect.Effect<MigrationStatus, StoreError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const dialect = dialectOf(sql)
    const known = Object.keys(steps)
    const rows = (yield* tableExists(sql)) ? yield* sql<AppliedStep>`SELECT * FROM ${sql(table)} ORDER BY name` : []
    const done = rows.map(({ name }) => name)
    const isDifferent = ({ digest, name }: AppliedStep): boolean => {
      const step = steps[name]
      return digest === undefined || (step !== undefined && digest !== digestOf(step(dialect)))
    }
    return {
      applied: done.filter((step) => known.includes(step)),
      pending: known.filter((step) => !done.includes(step)),
      unknown: done.filter((step) => !known.includes(step)),
      different: rows.filter(isDifferent).map(({ name }) => name)
    }
  }).pipe(unavailable("migrations.status"))

/** Fails if neither this release nor one before it made the database. */
const refuseOthers = ({ different, unknown }: MigrationStatus): Effect.Effect<void, StoreError> => {
  if (different.length > 0) return Effect.fail(otherForm(different))
  return unknown.length > 0 ? Effect.fail(newer(unknown)) : Effect.void
}

/** Applies what is pending once the lock is held: another node may have applied it since then. */
const applyPending = Effect.fnUntraced(function* (steps: SchemaSteps, sql: SqlClient.SqlClient) {
  const current = yield* readStatus(steps)
  yield* refuseOthers(current)
  yield* sql`CREATE TABLE IF NOT EXISTS ${sql(table)} (
    name TEXT PRIMARY KEY NOT NULL, digest TEXT NOT NULL, applied_at BIGINT NOT NULL)`
  for (const name of current.pending) {
    const statements = steps[name]?.(dialectOf(sql)) ?? []
    // Other fibers run between the statements, of which a step may have a hundred.
    for (const statement of statements) yield* Effect.andThen(sql.unsafe(statement), Effect.yieldNow)
    const row = { name, digest: digestOf(statements), applied_at: yield* Clock.currentTimeMillis }
    yield* sql`INSERT INTO ${sql(table)} ${sql.insert(row)}`
  }
  return current.pending
})

const applySteps = (steps: SchemaSteps): Effect.Effect<ReadonlyArray<string>, StoreError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const before = yield* readStatus(steps)
    yield* refuseOthers(before)
    if (before.pending.length === 0) return []
    const sql = yield* SqlClient.SqlClient
    yield* checkRights(sql).pipe(unavailable("migrations.apply"))
    return yield* Effect.andThen(oneAtATime(sql), applyPending(steps, sql)).pipe(
      sql.withTransaction,
      unavailable("migrations.apply")
    )
  })

const verifySteps = (steps: SchemaSteps): Effect.Effect<void, StoreError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const current = yield* readStatus(steps)
    yield* refuseOthers(current)
    const { pending } = current
    if (pending.length === 0) return
    return yield* new StoreError({
      reason: "unavailable",
      operation: "migrations.verify",
      why: stepsPending(pending)
    })
  })

/** Operations on the schema of a list of steps; that of this release by default. */
export const make = (steps: SchemaSteps = all) => ({
  status: readStatus(steps),
  /** Applies pending steps, all or none; returns the names of the steps applied. */
  apply: applySteps(steps),
  /** Succeeds only if no step is pending and the database has the form of this release. */
  verify: verifySteps(steps)
})

export const { apply, status, verify } = make()

const stepsPending = (steps: ReadonlyArray<string>): Reason => {
  const { length: count, 0: first = "" } = steps
  return count === 1
    ? { _tag: "StepPending", step: first }
    : { _tag: "StepsPending", count, first, last: steps.at(-1) ?? first }
}

export const layer = (migrate: "auto" | "verify"): Layer.Layer<never, StoreError, SqlClient.SqlClient> =>
  Layer.effectDiscard(migrate === "auto" ? apply : verify)

/** Fails with the statement that grants the user of Postgres what the steps need: inside their transaction the error would only be that it was aborted. */
const checkRights = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError.SqlError | StoreError> =>
  sql.onDialectOrElse({
    pg: () =>
      sql<{ grants: string | null }>`
        SELECT concat_ws('; ',
          CASE WHEN has_schema_privilege(schema, 'CREATE') IS NOT TRUE THEN
            'GRANT USAGE, CREATE ON SCHEMA ' || quote_ident(schema) || ' TO ' || quote_ident(current_user) END,
          CASE WHEN has_language_privilege('plpgsql', 'USAGE') IS NOT TRUE THEN
            'GRANT USAGE ON LANGUAGE plpgsql TO ' || quote_ident(current_user) END) AS grants
        FROM (SELECT COALESCE(current_schema(), 'public') AS schema) named`.pipe(
        Effect.flatMap(([row]) => {
          const grants = row?.grants ?? ""
          const why = { _tag: "DatabaseRightsMissing", grants } as const
          return grants === ""
            ? Effect.void
            : Effect.fail(new StoreError({ reason: "unavailable", operation: "migrations.apply", why }))
        })
      ),
    orElse: () => Effect.void
  })

/**
 * Serialises nodes that start together: the first holds the lock until its steps are committed, the others find them applied. They poll,
 * because waiting in the database has a limit.
 */
const oneAtATime = (sql: SqlClient.SqlClient): Effect.Effect<void, SqlError.SqlError> =>
  sql.onDialectOrElse({
    pg: () =>
      sql<{ locked: boolean }>`SELECT pg_try_advisory_xact_lock(${lockNumber}) AS locked`.pipe(
        Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: ([row]) => row?.locked === true }),
        // A step may change a million rows.
        Effect.andThen(sql.unsafe(unlimited)),
        Effect.asVoid
      ),
    orElse: () => Effect.void
  })

/** "aicr" in ASCII, which other programs are unlikely to use. */
const lockNumber = 0x61696372

const otherForm = (steps: ReadonlyArray<string>) =>
  new StoreError({
    reason: "unavailable",
    operation: "migrations",
    why: { _tag: "DatabaseOfOtherForm", steps }
  })

const newer = (steps: ReadonlyArray<string>) =>
  new StoreError({
    reason: "unavailable",
    operation: "migrations",
    why: { _tag: "DatabaseOfNewerRelease", steps }
  })

const tableExists = (sql: SqlClient.SqlClient): Effect.Effect<boolean, SqlError.SqlError> =>
  Effect.map(
    sql.onDialectOrElse({
      sqlite: () => sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${table}`,
      orElse: () =>
        // information_schema omits tables that the user may not read.
        sql`SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = ${table}`
    }),
    (rows) => rows.length > 0
  )
