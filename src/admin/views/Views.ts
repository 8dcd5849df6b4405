/** Builds the JSON of records for the administration: snake_case, times as texts, no confidential fields. */
import type { Change } from "../../domain/Change.ts"
import type { EntryView } from "../../queue/operator/Operations.ts"
import type { Batch } from "../../store/Batches.ts"
import type { DecisionCount, StoredEvent } from "../../store/Receipts.ts"
import type { RejectedSignature } from "../../store/RejectedSignatures.ts"
import type { Pause } from "../../queue/operator/QueueControl.ts"
import type { NodeInfo } from "../nodes/Nodes.ts"
import { rejected } from "../api/EventRecords.ts"
import { batch } from "../api/QueueRecords.ts"
import { withoutUndefined } from "./WithoutUndefined.ts"

/** Formats a time for people and programs. */
export const toTime = (millis: number): string => new Date(millis).toISOString()

export const maybeTime = (millis: number | undefined): string | undefined =>
  millis === undefined ? undefined : toTime(millis)

export const changeView = ({ author, head, repo, target, title, url }: Change) =>
  withoutUndefined({
    repo: repo.fullName,
    target_kind: target.kind,
    number: target.number,
    branch: target.branch,
    head,
    title,
    url,
    author: author?.username
  })

export const entryView = ({ entry, position }: EntryView) =>
  withoutUndefined({
    id: entry.id,
    status: entry.status,
    why: position.why,
    until: maybeTime(position.until),
    position: position.turn,
    starts_after: maybeTime(position.startsAfter),
    behind: position.behind,
    workspace: entry.workspace,
    target_key: entry.targetKey,
    ...changeView(entry.change),
    priority: entry.priority,
    admitted_at: toTime(entry.admittedAt),
    due_at: toTime(entry.dueAt),
    attempts: entry.attempts,
    node: entry.owner?.split("/")[0],
    events: entry.events
  })

export const batchView = (found: Batch) => ({
  ...batch.view(found),
  ...changeView(found.change),
  ...(found.change.base === undefined ? {} : { base: found.change.base })
})

export const eventView = (event: StoredEvent) =>
  withoutUndefined({
    id: event.id,
    received_at: toTime(event.receivedAt),
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
    duplicated_at: maybeTime(event.duplicatedAt),
    outcome: event.outcome,
    outcome_reason: event.outcomeReason,
    outcome_at: maybeTime(event.outcomeAt),
    run_id: event.runId
  })

const workView = ({ change, command, configHash, dueAt, priority }: NonNullable<StoredEvent["work"]>) =>
  withoutUndefined({
    ...changeView(change),
    command,
    priority,
    due_at: toTime(dueAt),
    config_hash: configHash
  })

/** A delivery that repeats another one, as the page of that one lists it. */
const replayView = ({ decision, id, outcome, reason, receivedAt }: StoredEvent) =>
  withoutUndefined({ id, received_at: toTime(receivedAt), decision, reason, outcome })

interface Replays {
  readonly replayOf: string | undefined
  readonly replays: ReadonlyArray<StoredEvent>
}

export const eventDetails = (event: StoredEvent, { replayOf, replays }: Replays) =>
  withoutUndefined({
    ...eventView(event),
    replay_of: replayOf,
    replays: replays.map(replayView),
    delivery: event.deliveryKey,
    work: event.work === undefined ? undefined : workView(event.work)
  })

export const decisionCountView = ({ lastAt, ...counted }: DecisionCount) =>
  withoutUndefined({ ...counted, last_at: toTime(lastAt) })

export const nodeView = (node: NodeInfo) =>
  withoutUndefined({
    name: node.name,
    roles: node.roles,
    version: node.version,
    configuration: node.configuration,
    started_at: toTime(node.startedAt),
    slots: node.slots,
    actors: node.actors,
    refused: node.refused
  })

export const pauseView = ({ name, reason, scope, since }: Pause) => ({ scope, name, reason, since: toTime(since) })

export const rejectedView = (found: RejectedSignature) => ({
  ...rejected.view(found),
  count: found.counts.loopback + found.counts.private + found.counts.public,
  addresses: found.counts
})
