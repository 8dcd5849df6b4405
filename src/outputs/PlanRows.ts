/** The rows of the outbox that publish a review: a pure function of the change, its analysis and the configuration of its channels. */
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Workspace } from "../config/Snapshot.ts"
import { hostTrigger } from "../domain/Change.ts"
import type { Change } from "../domain/Change.ts"
import { newId } from "../domain/Ids.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import type { Operation, Publication } from "../domain/Publication.ts"
import type { ChannelKind, Planned, PublishInput } from "./Channel.ts"
import { otherHost } from "./ChannelHost.ts"
import { labelId, statusId } from "./OperationId.ts"
import type { Outputs } from "./Outputs.ts"
import { route } from "./Routing.ts"
import type { Routed } from "./Routing.ts"
import { triageOperations } from "./TriageOperations.ts"
import { workspaceTemplates } from "./WorkspaceTemplates.ts"

export type ChannelKinds = ReadonlyMap<string, ChannelKind>

/** Channel name of statuses and labels, which no route mentions. */
const hostChannel = "commit_status"
/** Channel name of the operations of triage. */
const triageChannel = "triage"

export const rowOf = (
  input: Pick<PublishInput, "runId" | "targetKey">,
  channel: string,
  position: number,
  planned: Planned
): Publication => ({
  id: newId(),
  operationId: planned.operationId,
  runId: input.runId,
  targetKey: input.targetKey,
  channel,
  operation: planned.operation,
  status: "pending",
  position,
  attempts: 0
})

/** Commits have a status where they are the head of a pull request at a git host. */
const hasStatus = ({ target, provider }: Change): boolean =>
  target.kind === "pull_request" && target.number !== undefined && isForgeKind(provider)

/** Says of each channel whether the route also records managed issues. */
const recorded = (routed: ReadonlyArray<Routed>): ReadonlyArray<Routed> => {
  const issues = routed.some(({ channel }) => channel.kind.endsWith("_problem_issue"))
  return routed.map(({ channel, parts }) => ({ channel, parts: { ...parts, recorded: issues } }))
}

/** Adds notices to the analysis. */
const noted = (input: PublishInput, notices: ReadonlyArray<string>): PublishInput =>
  notices.length === 0
    ? input
    : { ...input, analysis: { ...input.analysis, notices: [...input.analysis.notices, ...notices] } }

/** The channels that publish a review of this change. */
export const routedChannels = (kinds: ChannelKinds, workspace: Workspace, change: Change) => {
  const { triggers } = workspace.snapshot()
  return recorded(route(workspace.outputs, change)).flatMap(({ channel, parts }) => {
    const kind = kinds.get(channel.kind)
    if (kind === undefined || !kind.serves(change) || otherHost(channel, change, triggers) !== undefined) return []
    return [{ channel, parts, kind }]
  })
}

/** Routed channels that publish nothing of this change; the review says so where it does appear. */
const unserved = (kinds: ChannelKinds, workspace: Workspace, change: Change): ReadonlyArray<string> =>
  route(workspace.outputs, change).flatMap(({ channel }) => {
    const kind = kinds.get(channel.kind)
    if (kind === undefined)
      return [`Nothing was sent to channel ${channel.name}: its kind ${channel.kind} is not available in this build.`]
    const other = otherHost(channel, change, workspace.snapshot().triggers)
    if (other !== undefined) return [`Nothing was sent to channel ${channel.name}: ${other}.`]
    return kind.serves(change)
      ? []
      : [`Nothing was sent to channel ${channel.name}: its kind ${channel.kind} publishes no ${change.target.kind}.`]
  })

/** The channel's links before the trigger's, and the templates in the workspace's directory. */
const linked = (input: PublishInput, channel: ChannelConfig): PublishInput => {
  const snapshot = input.workspace.snapshot()
  const trigger = snapshot.triggers.get(input.change.trigger)?.settings
  const host = snapshot.triggers.get(hostTrigger(input.change))?.settings
  const commit = channel.commit_url_template ?? trigger?.commit_url_template ?? host?.commit_url_template
  const revision = channel.revision_url_template ?? trigger?.revision_url_template ?? host?.revision_url_template
  const change = channel.change_url_template ?? trigger?.change_url_template ?? host?.change_url_template
  const ownTemplates = workspaceTemplates(snapshot, input.workspace, input.change, channel.name)
  return { ...input, linkTemplates: { commit, revision, change }, ownTemplates }
}

/** Empty without a pull request that can have a label, or without a configured label. */
const labelled = (
  input: Omit<PublishInput, "analysis">,
  name: string | undefined,
  position: number
): ReadonlyArray<Publication> =>
  name === undefined || !hasStatus(input.change)
    ? []
    : [
        rowOf(input, hostChannel, position, {
          operationId: labelId(input, name),
          operation: { _tag: "Label", name }
        })
      ]

/** The rows that publish the analysis, in the order in which they are sent. */
export const planRows = (kinds: ChannelKinds, input: PublishInput): ReadonlyArray<Publication> => {
  const { triage: decision } = input.analysis
  if (decision !== undefined) {
    return triageOperations({ ...input, decision }).map((planned, at) => rowOf(input, triageChannel, at, planned))
  }
  const rows = routedChannels(kinds, input.workspace, input.change)
    .flatMap(({ channel, parts, kind }) =>
      kind
        .plan(linked(noted(input, unserved(kinds, input.workspace, input.change)), channel), channel, parts)
        .map((planned) => ({ channel: channel.name, planned }))
    )
    .map(({ channel, planned }, position) => rowOf(input, channel, position, planned))
  return [...rows, ...labelled(input, input.workspace.review.labels.reviewed_tag, rows.length)]
}

/** The commit status of a run, and the label of a run that begins. */
export const statusRows: Outputs["Service"]["status"] = (input, state, description) => {
  const { workspace, change, head, runUrl } = input
  const label = state === "pending" ? labelled(input, workspace.review.labels.auto_tag, 0) : []
  if (!workspace.review.status_check || !hasStatus(change)) return label
  const operation: Operation = {
    _tag: "Status",
    head,
    state,
    description,
    ...(runUrl === undefined ? {} : { url: runUrl })
  }
  return [rowOf(input, hostChannel, 0, { operationId: statusId(input, state), operation }), ...label]
}
