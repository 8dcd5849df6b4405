/**
 * Schema of the record store, one file per step, in order. A released step never changes: a new one is added. `storage.database.migrate`:
 * `auto` applies missing steps at start; `verify` refuses to start instead. Both refuse a database that a newer release has changed.
 */
import { Effect, Layer, Schedule } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql"
import { unlimited } from "../database/Unlimited.ts"
import { StoreError } from "../database/StoreError.ts"
import { unavailable } from "../database/StoreFailure.ts"
import events from "./migrations/0001_events.ts"
import runs from "./migrations/0002_runs.ts"
import publications from "./migrations/0003_publications.ts"
import batches from "./migrations/0004_batches.ts"
import models from "./migrations/0005_models.ts"
import publishers from "./migrations/0006_publishers.ts"
import writers from "./migrations/0007_writers.ts"
import lessons from "./migrations/0008_lessons.ts"
import admin from "./migrations/0009_admin.ts"
import configurations from "./migrations/0010_configurations.ts"
import publisherStarts from "./migrations/0011_publisher_starts.ts"
import waitingRuns from "./migrations/0012_waiting_runs.ts"
import authors from "./migrations/0013_authors.ts"
import ignoredDismissals from "./migrations/0014_ignored_dismissals.ts"
import pullBases from "./migrations/0015_pull_bases.ts"
import findingOutcomes from "./migrations/0016_finding_outcomes.ts"
import deliveryFacts from "./migrations/0017_delivery_facts.ts"
import heartbeats from "./migrations/0018_heartbeats.ts"
import statistics from "./migrations/0019_statistics.ts"
import configSource from "./migrations/0020_config_source.ts"
import rejectedSignatures from "./migrations/0021_rejected_signatures.ts"
import runFacts from "./migrations/0022_run_facts.ts"
import chatRequests from "./migrations/0023_chat_requests.ts"
import adminActions from "./migrations/0024_admin_actions.ts"
import agentPasses from "./migrations/0025_agent_passes.ts"
import chatHealth from "./migrations/0026_chat_health.ts"
import deliveryPayloads from "./migrations/0027_delivery_payloads.ts"
import runLogs from "./migrations/0028_run_logs.ts"
import configReseals from "./migrations/0029_config_reseals.ts"
import listIndexes from "./migrations/0030_list_indexes.ts"
import chatOwners from "./migrations/0031_chat_owners.ts"
import listOrders from "./migrations/0037_list_orders.ts"
import notices from "./migrations/0038_notices.ts"
import chatSends from "./migrations/0040_chat_sends.ts"
import projectOrder from "./migrations/0041_project_order.ts"
import { withoutPeriod } from "../domain/Text.ts"

const all = {
  "0001_events": events,
  "0002_runs": runs,
  "0003_publications": publications,
  "0004_batches": batches,
  "0005_models": models,
  "0006_publishers": publishers,
  "0007_writers": writers,
  "0008_lessons": lessons,
  "0009_admin": admin,
  "0010_configurations": configurations,
  "0011_publisher_starts": publisherStarts,
  "0012_waiting_runs": waitingRuns,
  "0013_authors": authors,
  "0014_ignored_dismissals": ignoredDismissals,
  "0015_pull_bases": pullBases,
  "0016_finding_outcomes": findingOutcomes,
  "0017_delivery_facts": deliveryFacts,
  "0018_heartbeats": heartbeats,
  "0019_statistics": statistics,
  "0020_config_source": configSource,
  "0021_rejected_signatures": rejectedSignatures,
  "0022_run_facts": runFacts,
  "0023_chat_requests": chatRequests,
  "0024_admin_actions": adminActions,
  "0025_agent_passes": agentPasses,
  "0026_chat_health": chatHealth,
  "0027_delivery_payloads": deliveryPayloads,
  "0028_run_logs": runLogs,
  "0029_config_reseals": configReseals,
  "0030_list_indexes": listIndexes,
  "0031_chat_owners": chatOwners,
  "0037_list_orders": listOrders,
  "0038_notices": notices,
  "0040_chat_sends": chatSends,
  "0041_project_order": projectOrder
}

const table = "aicr_migrations"

export interface MigrationStatus {
  readonly applied: ReadonlyArray<string>
  readonly pending: ReadonlyArray<string>
  /** Steps in the database that are unknown to this release. */
  readonly unknown: ReadonlyArray<string>
}

/** Status of a database that does not exist yet. */
export const untouched: MigrationStatus = { applied: [], pending: Object.keys(all), unknown: [] }

export const status: Effect.Effect<MigrationStatus, StoreError, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const known = Object.keys(all)
  const done = (yield* tableExists(sql))
    ? (yield* sql<{ migration_id: number; name: string }>`
        SELECT migration_id, name FROM ${sql(table)} ORDER BY migration_id`).map(
        (row) => `${String(row.migration_id).padStart(4, "0")}_${row.name}`
      )
    : []
  return {
    applied: done.filter((step) => known.includes(step)),
    pending: known.filter((step) => !done.includes(step)),
    unknown: done.filter((step) => !known.includes(step))
  }
}).pipe(unavailable("migrations.status"))

/** Applies pending steps; returns the names of the steps applied. */
export const apply: Effect.Effect<ReadonlyArray<string>, StoreError, SqlClient.SqlClient> = Effect.gen(function* () {
  const { pending, unknown } = yield* status
  if (unknown.length > 0) return yield* newer(unknown)
  if (pending.length === 0) return []
  const sql = yield* SqlClient.SqlClient
  yield* checkRights(sql).pipe(unavailable("migrations.apply"))
  const applied = yield* Effect.andThen(
    oneAtATime(sql),
    Migrator.make({})({ loader: Migrator.fromRecord(all), table })
  ).pipe(
    sql.withTransaction,
    Effect.catchTag("MigrationError", (error) =>
      Effect.fail(
        new StoreError({
          reason: "unavailable",
          operation: "migrations.apply",
          message: `${withoutPeriod(error.message)}. Nothing was changed; the cause was: ${withoutPeriod(String(error.cause ?? error.kind))}`
        })
      )
    ),
    unavailable("migrations.apply")
  )
  return applied.map(([id, name]) => `${String(id).padStart(4, "0")}_${name}`)
})

/** Succeeds only if no step is pending and none is unknown. */
export const verify: Effect.Effect<void, StoreError, SqlClient.SqlClient> = Effect.gen(function* () {
  const { pending, unknown } = yield* status
  if (unknown.length > 0) return yield* newer(unknown)
  if (pending.length === 0) return
  return yield* new StoreError({
    reason: "unavailable",
    operation: "migrations.verify",
    message:
      `The database lacks ${describeSteps(pending)}. Run "aicr db migrate", or start the service, ` +
      `which applies them unless storage.database.migrate is "verify"`
  })
})

/** Formats a number of steps with the first and the last of them. */
const describeSteps = (steps: ReadonlyArray<string>): string =>
  steps.length === 1 ? `the step ${steps[0]}` : `${steps.length} steps (${steps[0]} to ${steps.at(-1)})`

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
          const message = `The user of Postgres (storage.database.postgres.url_env) lacks rights to create tables, functions and triggers. Let an administrator of this database run: ${grants}`
          return grants === ""
            ? Effect.void
            : Effect.fail(new StoreError({ reason: "unavailable", operation: "migrations.apply", message }))
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
      sql<{ mine: boolean }>`SELECT pg_try_advisory_xact_lock(${lockNumber}) AS mine`.pipe(
        Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: ([row]) => row?.mine === true }),
        // A step may change a million rows.
        Effect.andThen(sql.unsafe(unlimited)),
        Effect.asVoid
      ),
    orElse: () => Effect.void
  })

/** "aicr" in ASCII, which other programs are unlikely to use. */
const lockNumber = 0x61696372

const newer = (steps: ReadonlyArray<string>) =>
  new StoreError({
    reason: "unavailable",
    operation: "migrations",
    message:
      `The database has the migrations ${steps.join(", ")}, which are unknown to this release. ` +
      `Start the newer release that made them, or restore a backup from before the upgrade (docs/operations.md)`
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
