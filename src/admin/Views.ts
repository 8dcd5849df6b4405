/** Builds the JSON of records for the administration: snake_case, times as texts, no confidential fields. */
import { usageJson } from "../domain/Analysis.ts"
import type { Change } from "../domain/Change.ts"
import type { Publication } from "../domain/Publication.ts"
import type { EntryView } from "../queue/operator/Operations.ts"
import type { Batch, Member } from "../store/Batches.ts"
import type { StoredEvent } from "../store/Receipts.ts"
import type { Run } from "../store/Runs.ts"
import { time } from "./Answers.ts"
import type { NodeInfo } from "./Nodes.ts"

const changeView = ({ author, head, repo, target, title, url }: Change) => ({
  repo: repo.fullName,
  target_kind: target.kind,
  number: target.number,
  branch: target.branch,
  head,
  title,
  url,
  author: author?.username
})

export const entryView = ({ entry, position }: EntryView) => ({
  id: entry.id,
  status: entry.status,
  why: position.text,
  until: time(position.until),
  workspace: entry.workspace,
  target_key: entry.targetKey,
  ...changeView(entry.change),
  priority: entry.priority,
  admitted_at: time(entry.admittedAt),
  due_at: time(entry.dueAt),
  attempts: entry.attempts,
  node: entry.owner?.split("/")[0],
  events: entry.events
})

export const batchView = (batch: Batch) => ({
  id: batch.id,
  status: batch.status,
  reason: batch.reason,
  workspace: batch.workspace,
  stream: batch.stream,
  ...changeView(batch.change),
  base: batch.change.base,
  commits: batch.commits,
  first_at: time(batch.firstAt),
  due_at: time(batch.dueAt),
  finished_at: time(batch.finishedAt),
  entry_id: batch.entryId,
  run_id: batch.runId
})

export const memberView = (member: Member) => ({
  event_id: member.eventId,
  status: member.status,
  before: member.before,
  after: member.after,
  commits: member.commits,
  received_at: time(member.receivedAt)
})

export const eventView = (event: StoredEvent) => ({
  id: event.id,
  received_at: time(event.receivedAt),
  provider: event.provider,
  event: event.event,
  action: event.action,
  trigger: event.trigger,
  workspace: event.workspace,
  target_kind: event.targetKind,
  target_key: event.targetKey,
  repo: event.repo,
  number: event.facts.number,
  head: event.facts.head,
  branch: event.facts.branch,
  author: event.facts.author,
  sender: event.facts.sender,
  command: event.facts.command,
  decision: event.decision,
  reason: event.reason,
  rule: event.rule,
  duplicates: event.duplicates,
  duplicated_at: time(event.duplicatedAt),
  outcome: event.outcome,
  outcome_reason: event.outcomeReason,
  outcome_at: time(event.outcomeAt),
  run_id: event.runId
})

export const eventDetails = (event: StoredEvent) => ({
  ...eventView(event),
  delivery: event.deliveryKey,
  work:
    event.work === undefined
      ? undefined
      : {
          ...changeView(event.work.change),
          command: event.work.command,
          priority: event.work.priority,
          due_at: time(event.work.dueAt),
          config_hash: event.work.configHash
        }
})

const durationOf = ({ finishedAt, startedAt }: Run): number | undefined =>
  startedAt === undefined || finishedAt === undefined ? undefined : finishedAt - startedAt

export const runView = (run: Run) => ({
  id: run.id,
  status: run.status,
  reason: run.reason,
  partial: run.partial,
  workspace: run.workspace,
  target_key: run.targetKey,
  ...changeView(run.change),
  head: run.head,
  base: run.base,
  created_at: time(run.createdAt),
  started_at: time(run.startedAt),
  finished_at: time(run.finishedAt),
  /** Set while the run waits for its host; `reason` holds the reason. */
  waiting_since: time(run.waitingSince),
  waiting_until: time(run.waitingUntil),
  duration_ms: durationOf(run),
  findings: run.analysis?.findings.length,
  cost_usd: run.analysis?.usage.costUsd ?? null
})

export const publicationView = (row: Publication) => ({
  id: row.id,
  channel: row.channel,
  operation: row.operation._tag,
  status: row.status,
  attempts: row.attempts,
  not_before: time(row.notBefore),
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

export const runDetails = (run: Run, publications: ReadonlyArray<Publication>) => ({
  ...runView(run),
  config_hash: run.configHash,
  entry_id: run.entryId,
  timeline: [
    { at: time(run.createdAt), what: "created" },
    ...(run.startedAt === undefined ? [] : [{ at: time(run.startedAt), what: "started" }]),
    ...(run.finishedAt === undefined ? [] : [{ at: time(run.finishedAt), what: run.status }])
  ],
  summary: run.analysis?.summary,
  findings: (run.analysis?.findings ?? []).map(({ anchor, fingerprint, problem }) => ({
    fingerprint,
    ...problem,
    anchor: anchor ?? null
  })),
  coverage: run.analysis?.coverage,
  notices: run.analysis?.notices ?? [],
  models: run.analysis?.models ?? [],
  usage: run.analysis === undefined ? undefined : usageJson(run.analysis.usage),
  publications: publications.map(publicationView),
  /** Problems dismissed by people without permission (`review.dismissal`): they stay open. */
  ignored_dismissals: ignoredDismissals(publications)
})

export const nodeView = (node: NodeInfo) => ({
  name: node.name,
  roles: node.roles,
  version: node.version,
  started_at: time(node.startedAt),
  actors: node.actors
})
