/** Builds the JSON of runs for the administration. */
import { usageJson } from "../domain/Analysis.ts"
import type { Coverage } from "../domain/Coverage.ts"
import type { Anchor, Finding } from "../domain/Problem.ts"
import type { Publication } from "../domain/Publication.ts"
import type { Run } from "../store/Runs.ts"
import { changeView, maybeTime, toTime } from "./Views.ts"
import { withoutUndefined } from "./WithoutUndefined.ts"

const durationOf = ({ finishedAt, startedAt }: Run): number | undefined =>
  startedAt === undefined || finishedAt === undefined ? undefined : finishedAt - startedAt

/** A run with the ids of its deliveries. */
export type RunWithEvents = Run & { readonly eventIds: ReadonlyArray<string> }

export const runView = (run: Run) =>
  withoutUndefined({
    id: run.id,
    status: run.status,
    reason: run.reason,
    partial: run.partial,
    workspace: run.workspace,
    target_key: run.targetKey,
    ...changeView(run.change),
    head: run.head,
    base: run.base,
    created_at: toTime(run.createdAt),
    started_at: maybeTime(run.startedAt),
    finished_at: maybeTime(run.finishedAt),
    /** Set while the run waits for its host; `reason` holds the reason. */
    waiting_since: maybeTime(run.waitingSince),
    waiting_until: maybeTime(run.waitingUntil),
    duration_ms: durationOf(run),
    findings: run.analysis?.findings.length,
    cost_usd: run.analysis?.usage.costUsd ?? null
  })

export const listedRunView = (run: RunWithEvents) => ({ ...runView(run), event_ids: run.eventIds })

export const publicationView = (row: Publication) =>
  withoutUndefined({
    id: row.id,
    channel: row.channel,
    operation: row.operation._tag,
    status: row.status,
    attempts: row.attempts,
    not_before: maybeTime(row.notBefore),
    url: row.url,
    error: row.error
  })

/** Collected over all rows of the run, because each row reads the host separately. */
const ignoredDismissals = (publications: ReadonlyArray<Publication>) => {
  const all = publications.flatMap((row) => row.ignoredDismissals ?? [])
  return [...new Map(all.map((one) => [`${one.fp} ${one.file}`, one])).values()].map(({ fp, file, by }) => ({
    fingerprint: fp,
    file,
    by
  }))
}

const anchorView = ({ newLine, oldLine, oldPath, ...anchor }: Anchor) =>
  withoutUndefined({ ...anchor, old_path: oldPath, old_line: oldLine, new_line: newLine })

const findingView = ({ anchor, fingerprint, problem }: Finding) => ({
  fingerprint,
  ...withoutUndefined(problem),
  anchor: anchor === undefined ? null : anchorView(anchor)
})

const coverageView = (coverage: Coverage) =>
  withoutUndefined({ ...coverage, skipped: coverage.skipped.map((file) => withoutUndefined(file)) })

export const runDetails = (run: RunWithEvents, publications: ReadonlyArray<Publication>) =>
  withoutUndefined({
    ...listedRunView(run),
    config_hash: run.configHash,
    entry_id: run.entryId,
    timeline: [
      { at: toTime(run.createdAt), what: "created" },
      ...(run.startedAt === undefined ? [] : [{ at: toTime(run.startedAt), what: "started" }]),
      ...(run.finishedAt === undefined ? [] : [{ at: toTime(run.finishedAt), what: run.status }])
    ],
    summary: run.analysis?.summary,
    findings: (run.analysis?.findings ?? []).map(findingView),
    coverage: run.analysis === undefined ? undefined : coverageView(run.analysis.coverage),
    notices: run.analysis?.notices ?? [],
    models: run.analysis?.models ?? [],
    usage: run.analysis === undefined ? undefined : usageJson(run.analysis.usage),
    publications: publications.map(publicationView),
    /** Problems dismissed by people without permission (`review.dismissal`): they stay open. */
    ignored_dismissals: ignoredDismissals(publications)
  })
