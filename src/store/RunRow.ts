/** Encodes a run for the table `runs`. */
import { Schema } from "effect"
import { Analysis } from "../domain/Analysis.ts"
import { Change, foldRepo } from "../domain/Change.ts"
import type { LeaseToken } from "../domain/FencingToken.ts"
import { RunVerdict } from "../domain/HeadVerdict.ts"
import { TargetKey } from "../domain/Keys.ts"
import { RunStatus } from "../domain/Run.ts"
import { ReasonText } from "./ReasonText.ts"
import type { BegunRun, Run } from "./Runs.ts"

export const VerdictText = Schema.fromJsonString(RunVerdict)
export const encodeVerdict = (verdict: RunVerdict | undefined): string | null =>
  verdict === undefined ? null : JSON.stringify(verdict)

const AnalysisText = Schema.fromJsonString(Analysis)
/** Validated on write, so that an unreadable record fails its own run and no later sweep. */
export const encodeAnalysis = Schema.encodeSync(AnalysisText)

const RunRow = Schema.Struct({
  id: Schema.String,
  entry_id: Schema.String,
  token: Schema.Int,
  workspace: Schema.String,
  target_key: TargetKey,
  change: Schema.fromJsonString(Change),
  head: Schema.String,
  base: Schema.NullOr(Schema.String),
  status: RunStatus,
  reason: Schema.NullOr(ReasonText),
  partial: Schema.Int,
  config_hash: Schema.String,
  analysis: Schema.NullOr(AnalysisText),
  created_at: Schema.Int,
  started_at: Schema.NullOr(Schema.Int),
  finished_at: Schema.NullOr(Schema.Int),
  waiting_since: Schema.NullOr(Schema.Int),
  waiting_until: Schema.NullOr(Schema.Int),
  verdict: Schema.NullOr(VerdictText)
})
export type RunRow = typeof RunRow.Type

export const decodeRunRows = Schema.decodeUnknownEffect(Schema.Array(RunRow))

export const toRun = (row: RunRow): Run => ({
  id: row.id,
  entryId: row.entry_id,
  workspace: row.workspace,
  targetKey: row.target_key,
  change: row.change,
  head: row.head,
  base: row.base ?? undefined,
  status: row.status,
  reason: row.reason ?? undefined,
  partial: row.partial === 1,
  configHash: row.config_hash,
  analysis: row.analysis ?? undefined,
  createdAt: row.created_at,
  startedAt: row.started_at ?? undefined,
  finishedAt: row.finished_at ?? undefined,
  waitingSince: row.waiting_since ?? undefined,
  waitingUntil: row.waiting_until ?? undefined,
  verdict: row.verdict ?? undefined
})

/** Returns the row of a new run. */
export const newRunRow = (
  run: BegunRun & Pick<Run, "id">,
  status: "queued" | "preparing",
  token: LeaseToken,
  now: number
) => ({
  id: run.id,
  entry_id: run.entryId,
  token,
  workspace: run.workspace,
  target_key: run.targetKey,
  change: JSON.stringify(run.change),
  repo: foldRepo(run.change.repo.fullName),
  number: run.change.target.number ?? null,
  trigger_name: run.change.trigger,
  head: run.head,
  base: run.base ?? null,
  base_ref: run.change.baseRef ?? null,
  verdict: encodeVerdict(run.verdict),
  status,
  partial: 0,
  config_hash: run.configHash,
  created_at: now,
  started_at: status === "queued" ? null : now
})
