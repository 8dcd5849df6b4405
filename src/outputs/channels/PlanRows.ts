/** Plans the publications of a review: a pure function of the change, its analysis and the configuration of its channels. */
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { Workspace } from "../../config/Snapshot.ts"
import { hostTrigger, isOnPull } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import { newId } from "../../domain/Ids.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import { publicUrl } from "../../domain/RunLink.ts"
import { isChinese } from "../../text/InLanguage.ts"
import type { Operation, Publication } from "../../domain/Publication.ts"
import type { ChannelKind, Planned, PublishInput } from "./Channel.ts"
import { findHostMismatch } from "./ChannelHost.ts"
import { labelId, statusId } from "./OperationId.ts"
import type { Outputs } from "../Outputs.ts"
import { planPrivate } from "./PrivateRows.ts"
import { route } from "./Routing.ts"
import type { Routed } from "./Routing.ts"
import { statusDetails } from "../review/StatusDetails.ts"
import { replyRows } from "../ReplyRows.ts"
import { setsStatus } from "../StatusEnd.ts"
import { triageOperations } from "../issues/TriageOperations.ts"
import { workspaceTemplates } from "../text/WorkspaceTemplates.ts"

export type ChannelKinds = ReadonlyMap<string, ChannelKind>

/** Channel name of statuses and labels, which routes do not name. */
const hostChannel = "commit_status"
/** Channel name of the operations of triage. */
const triageChannel = "triage"

export const toPublication = (
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

/** Marks each channel whose route also maintains managed issues. */
const recorded = (routed: ReadonlyArray<Routed>): ReadonlyArray<Routed> => {
  const issues = routed.some(({ channel }) => channel.kind.endsWith("_problem_issue"))
  return routed.map(({ channel, parts }) => ({ channel, parts: { ...parts, recorded: issues } }))
}

/** Returns the channels that publish a review of this change. */
export const routedChannels = (kinds: ChannelKinds, workspace: Workspace, change: Change) => {
  const { triggers } = workspace.snapshot()
  return recorded(route(workspace.outputs, change)).flatMap(({ channel, parts }) => {
    const kind = kinds.get(channel.kind)
    if (kind === undefined || !kind.serves(change) || findHostMismatch(channel, change, triggers) !== undefined)
      return []
    return [{ channel, parts, kind }]
  })
}

/** Adds the links (the channel's before the trigger's) and the templates in the workspace's directory. */
const withLinks = (input: PublishInput, channel: ChannelConfig): PublishInput => {
  const snapshot = input.workspace.snapshot()
  const trigger = snapshot.triggers.get(input.change.trigger)?.settings
  const host = snapshot.triggers.get(hostTrigger(input.change))?.settings
  const commit = channel.commit_url_template ?? trigger?.commit_url_template ?? host?.commit_url_template
  const revision = channel.revision_url_template ?? trigger?.revision_url_template ?? host?.revision_url_template
  const change = channel.change_url_template ?? trigger?.change_url_template ?? host?.change_url_template
  const ownTemplates = workspaceTemplates(snapshot, input.workspace, input.change, channel.name)
  const path = isChinese(input.workspace.review.output_language) ? "/developers/zh" : "/developers"
  const guideUrl = publicUrl(snapshot.document.server, path)
  return { ...input, linkTemplates: { commit, revision, change }, ownTemplates, guideUrl }
}

/** Plans the label; empty without a pull request that can have one, or without a configured label. */
const planLabel = (
  input: Omit<PublishInput, "analysis">,
  name: string | undefined,
  position: number
): ReadonlyArray<Publication> =>
  name === undefined || !isOnPull(input.change) || !isForgeKind(input.change.provider)
    ? []
    : [
        toPublication(input, hostChannel, position, {
          operationId: labelId(input, name),
          operation: { _tag: "Label", name }
        })
      ]

/**
 * Plans the publications of a merge group, whose problems are in the details of its status: only maintainers get what is for them, if the reviews
 * of its pull request had not reported it.
 */
const planGroup = (kinds: ChannelKinds, input: PublishInput): ReadonlyArray<Publication> => {
  const { private: delivered = [] } = input.analysis
  if (delivered.every(({ finding }) => finding.round?.kind === "carried")) return []
  return planPrivate(kinds, input, withLinks).map(({ channel, planned }, position) =>
    toPublication(input, channel, position, planned)
  )
}

/** Plans the publications of the analysis in sending order. */
export const planRows = (kinds: ChannelKinds, input: PublishInput): ReadonlyArray<Publication> => {
  const { reply, triage: decision } = input.analysis
  if (reply !== undefined) return replyRows(input, reply)
  if (decision !== undefined) {
    return triageOperations({ ...input, decision }).map((planned, at) =>
      toPublication(input, triageChannel, at, planned)
    )
  }
  if (input.change.target.kind === "merge_group") return planGroup(kinds, input)
  const delivered = planPrivate(kinds, input, withLinks)
  const rows = [
    ...delivered,
    ...routedChannels(kinds, input.workspace, input.change).flatMap(({ channel, parts, kind }) =>
      kind.plan(withLinks(input, channel), channel, parts).map((planned) => ({ channel: channel.name, planned }))
    )
  ].map(({ channel, planned }, position) => toPublication(input, channel, position, planned))
  return [...rows, ...planLabel(input, input.workspace.review.labels.reviewed_tag, rows.length)]
}

/** Returns whether the host shows details with a verdict: a check run of GitHub, which an app writes. */
const showsDetails = (workspace: Workspace, change: Change): boolean =>
  workspace.snapshot().triggers.get(hostTrigger(change))?.settings.app !== undefined

/** Plans the commit status of a run, and the label of a starting run. */
export const statusRows: Outputs["Service"]["status"] = (input, state, description, review) => {
  const { workspace, change, head, runUrl } = input
  const label = state === "pending" ? planLabel(input, workspace.review.labels.auto_tag, 0) : []
  if (!setsStatus(workspace, change)) return label
  const operation: Operation = {
    _tag: "Status",
    head,
    state,
    description,
    ...(runUrl === undefined ? {} : { url: runUrl }),
    ...(review !== undefined && showsDetails(workspace, change)
      ? { details: statusDetails(review, workspace.review.output_language, change.target) }
      : {})
  }
  return [toPublication(input, hostChannel, 0, { operationId: statusId(input, state), operation }), ...label]
}
