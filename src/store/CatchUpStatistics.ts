/**
 * Adds runs and outcomes of findings to the statistics that they do not contain, because an earlier version of the service recorded them. Each is
 * marked in the transaction that adds it, so that this may be repeated, interrupted and run while nodes of any version do.
 */
import { Effect, Schema } from "effect"
import { SqlError } from "effect/sql"
import type { SqlClient } from "effect/sql"
import { Change } from "../domain/Change.ts"
import { RunStatus, isTerminal } from "../domain/Run.ts"
import { corrupt } from "../database/StoreFailure.ts"
import { countEndedRun, outcomeIncrements } from "./CountRun.ts"
import { ensureProject } from "./Projects.ts"
import { rollUp } from "./RollUp.ts"
import { decodeRunRows, toRun } from "./RunRow.ts"
import { countOldOutcomes } from "./SqlOutcomes.ts"

const ended = RunStatus.literals.filter(isTerminal)

const countOldRun = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, id: string, now: number) {
  const claimed = yield* sql`UPDATE runs SET counted = 1 WHERE id = ${id} AND counted = 0 RETURNING *`
  const [row] = yield* Effect.mapError(decodeRunRows(claimed), (error) => corrupt("statistics.catchUp", error))
  if (row === undefined) return
  const run = toRun(row)
  const mayHaveCalled = run.startedAt !== undefined && run.status !== "skipped"
  yield* countEndedRun(sql, run, { mayHaveCalled, hasOutcomes: false }, now)
})

const catchUpRuns = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, limit: number, now: number) {
  const found = yield* sql<{ id: string }>`
    SELECT id FROM runs WHERE counted = 0 AND ${sql.in("status", ended)} ORDER BY id LIMIT ${limit}`
  for (const { id } of found) {
    yield* sql.withTransaction(countOldRun(sql, id, now)).pipe(
      // A record that cannot be decoded now never can.
      Effect.catchIf(
        (error) => !SqlError.isSqlError(error) && error.reason === "corrupt",
        ({ message }) =>
          Effect.andThen(
            Effect.logWarning("run not added to the statistics, its record cannot be decoded", {
              run_id: id,
              error: message
            }),
            sql`UPDATE runs SET counted = 1 WHERE id = ${id}`
          )
      )
    )
    yield* Effect.yieldNow
  }
  return found.length
})

const TargetRow = Schema.Struct({
  target_key: Schema.String,
  workspace: Schema.NullOr(Schema.String),
  change: Schema.NullOr(Schema.fromJsonString(Change)),
  finished_at: Schema.NullOr(Schema.Int)
})
const decodeTargets = Schema.decodeUnknownEffect(Schema.Array(TargetRow))

/** Project of outcomes whose runs retention has removed: they count for the instance and their model. */
const unknownProject = ""
/** Maximum number of outcomes of a target that one transaction adds. */
const outcomesPerStep = 500

const catchUpOutcomes = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, limit: number, now: number) {
  const found = yield* sql`
    SELECT o.target_key, r.workspace, r.change, r.finished_at FROM (
      SELECT target_key, MAX(found_in) AS found_in FROM finding_outcomes WHERE project IS NULL
      GROUP BY target_key ORDER BY target_key LIMIT ${limit}) o
    LEFT JOIN runs r ON r.id = o.found_in`
  const targets = yield* Effect.mapError(decodeTargets(found), (error) => corrupt("statistics.catchUp", error))
  const countTarget = Effect.fnUntraced(function* ({
    change,
    finished_at,
    target_key,
    workspace
  }: (typeof targets)[number]) {
    const project =
      change === null || workspace === null
        ? unknownProject
        : yield* ensureProject(sql, workspace, change, finished_at ?? now)
    const counted = yield* countOldOutcomes(sql, target_key, project, outcomesPerStep)
    yield* rollUp(sql, yield* outcomeIncrements(sql, counted), now)
  })
  for (const target of targets) {
    yield* sql.withTransaction(countTarget(target))
    yield* Effect.yieldNow
  }
  return targets.length
})

/** Returns how many runs and targets were added. */
export const catchUp = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(function* (limit: number, now: number) {
    const runs = yield* catchUpRuns(sql, limit, now)
    return Math.max(runs, yield* catchUpOutcomes(sql, limit, now))
  })
