/** Adds a run to the statistics, in the transaction that ends it. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { OutcomeRecord } from "../../domain/FindingOutcome.ts"
import { parseIdTime } from "../../domain/Ids.ts"
import { Operation } from "../../domain/Publication.ts"
import { countRun } from "../../domain/RunCounts.ts"
import type { EndedRun } from "../../domain/RunCounts.ts"
import { corrupt } from "../../database/sql/StoreFailure.ts"
import { recordRules } from "../ProjectRules.ts"
import { ensureProject, lockProjects } from "../statistics/Projects.ts"
import { rollUp, wholeInstance } from "../statistics/RollUp.ts"
import type { Increment } from "../statistics/RollUp.ts"
import type { Run, SettledBy } from "../Runs.ts"
import { findRunNanos } from "./SqlLedger.ts"
import { changeOutcome, recordOutcomes, storeSettled } from "./SqlOutcomes.ts"
import type { OutcomeCounted } from "./SqlOutcomes.ts"

const SentRow = Schema.Struct({
  operation: Schema.NullOr(Schema.fromJsonString(Operation)),
  updated_at: Schema.Union([Schema.Int, Schema.NumberFromString])
})
const decodeSent = Schema.decodeUnknownEffect(Schema.Array(SentRow))

/** Operations that people read: comments, issues and messages. */
const read = ["Review", "Summary", "CommitComment", "Issue", "Issues", "Chat"]

/** Returns the number of issues that the run created at the host, and the time of its first comment. */
const readSent = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, runId: string) {
  const found = yield* sql`
    SELECT CASE WHEN kind = 'Issue' THEN operation END AS operation, updated_at FROM publications
    WHERE run_id = ${runId} AND ${sql.in("kind", read)} AND status = 'sent'`
  const rows = yield* Effect.mapError(decodeSent(found), (error) => corrupt("runs.sent", error))
  return {
    issuesCreated: rows.filter(({ operation }) => operation?._tag === "Issue" && operation.action === "create").length,
    firstCommentAt: rows.length === 0 ? undefined : Math.min(...rows.map(({ updated_at }) => updated_at))
  }
})

/** Returns the time from the admission of an automatic review to its first comment. */
const firstCommentMillis = ({ change, entryId }: Run, firstCommentAt: number | undefined): number | undefined => {
  const admittedAt = parseIdTime(entryId)
  if (admittedAt === undefined || firstCommentAt === undefined || change.requestedBy !== undefined) return undefined
  return firstCommentAt < admittedAt ? undefined : firstCommentAt - admittedAt
}

const isEnd = (status: Run["status"]): status is EndedRun["status"] =>
  status === "succeeded" ||
  status === "failed" ||
  status === "timeout" ||
  status === "cancelled" ||
  status === "skipped"

/** Returns the increments of outcomes. Those of projects that were removed since then count for the instance, the team and the model. */
const outcomeIncrements = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  counted: ReadonlyArray<OutcomeCounted>
) {
  const projects = yield* lockProjects(sql, [...new Set(counted.map(({ project }) => project))])
  return counted.flatMap(({ counts, foundAt: at, model, project, team }): ReadonlyArray<Increment> => {
    const workspace = projects.get(project)
    return [
      { scope: "instance", subject: wholeInstance, at, counts },
      ...(team === undefined ? [] : [{ scope: "team", subject: team, at, counts } as const]),
      ...(workspace === undefined
        ? []
        : ([
            { scope: "workspace", subject: workspace, at, counts },
            { scope: "project", subject: project, at, counts }
          ] as const)),
      ...(model === undefined ? [] : [{ scope: "model", subject: model, at, counts } as const])
    ]
  })
})

/**
 * Adds an ended run, and the outcomes of its findings. `mayHaveCalled`: whether a model may have been called, which matters only without an
 * analysis. The caller has made sure that the run is added once.
 */
export const countEndedRun = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  run: Run,
  options: { readonly mayHaveCalled: boolean; readonly by?: SettledBy | undefined; readonly hasOutcomes: boolean },
  now: number
) {
  if (!isEnd(run.status)) return
  const at = run.finishedAt ?? now
  const { team, workspace } = run
  const project = yield* ensureProject(sql, workspace, run.change, team, at)
  const outcomes = options.hasOutcomes ? yield* recordOutcomes(sql, run, options.by, project, at) : []
  if (options.hasOutcomes) yield* recordRules(sql, run, at)
  const { firstCommentAt, issuesCreated } = yield* readSent(sql, run.id)
  const { byModel, counts, slots } = countRun({
    ...run,
    isReply: run.change.target.kind === "comment",
    status: run.status,
    finishedAt: at,
    issuesCreated,
    firstCommentMillis: firstCommentMillis(run, firstCommentAt),
    ledgerNanos: yield* findRunNanos(sql, run.id),
    mayHaveCalled: options.mayHaveCalled
  })
  const increments: ReadonlyArray<Increment> = [
    { scope: "instance", subject: wholeInstance, at, counts, slots },
    ...(team === undefined ? [] : [{ scope: "team", subject: team, at, counts, slots } as const]),
    { scope: "workspace", subject: workspace, at, counts, slots },
    { scope: "project", subject: project, at, counts, slots },
    ...[...byModel].map(([model, part]) => ({ scope: "model", subject: model, at, counts: part, slots }) as const)
  ]
  yield* rollUp(sql, [...increments, ...(yield* outcomeIncrements(sql, outcomes))], now)
})

/** Changes the outcome of a finding, and adds the change to the statistics. */
export const countRuling = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  run: Run,
  ruling: Parameters<typeof changeOutcome>[2],
  now: number
) {
  const counted = yield* changeOutcome(sql, run, ruling, now)
  if (counted.length > 0) yield* rollUp(sql, yield* outcomeIncrements(sql, counted), now)
})

/** Stores outcomes at the end of a change, and adds them to the statistics. Returns the number of those that were not decided before. */
export const countSettled = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  end: Parameters<typeof storeSettled>[1],
  records: ReadonlyArray<OutcomeRecord>,
  now: number
) {
  const counted = yield* storeSettled(sql, end, records)
  if (counted.length > 0) yield* rollUp(sql, yield* outcomeIncrements(sql, counted), now)
  return counted.length
})
