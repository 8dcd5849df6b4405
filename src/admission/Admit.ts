/** Decides whether a verified delivery starts work, and which work. Pure, with a reason for every delivery that starts none. */
import type { Snapshot, SourceFacts, TriggerProfile, Workspace } from "../config/Snapshot.ts"
import type { Change, Repo } from "../domain/Change.ts"
import { isTrustedRequester, targetKey } from "../domain/Change.ts"
import { findAddressedCommand } from "../domain/CommentCommand.ts"
import type { CommandRequest } from "../domain/CommentCommand.ts"
import type { IgnoreReason } from "../domain/Decision.ts"
import { Priority } from "../domain/Entry.ts"
import type { HostEvent, MergeGroupFacts } from "../domain/HostEvent.ts"
import { cloneUrl } from "../domain/HostUrls.ts"
import type { TargetKey } from "../domain/Keys.ts"
import { hasTriage } from "../domain/Kinds.ts"
import { commandDue, pullRequestDue, pushDue } from "./Windows.ts"
import { refuseDiscussed } from "./AdmitDiscussed.ts"
import { isExcluded } from "./Exclude.ts"
import { describeBinding, describeRoute } from "./DescribeRoute.ts"
import type { Binding } from "./Select.ts"
import { onlyOne, select, selectByPull, sourceFacts } from "./Select.ts"
import { isIgnoredLabel } from "./IgnoredLabel.ts"
import type { Reason } from "../domain/Reason.ts"

export interface Delivery {
  readonly snapshot: Snapshot
  /** Profiles of the route whose credential verified; never empty. */
  readonly verified: ReadonlyArray<TriggerProfile>
  readonly event: HostEvent
  /** Base branch of the event's pull request from earlier deliveries, by trigger. Used if the event does not name it. */
  readonly bases?: ReadonlyMap<string, string> | undefined
  /** Returns the account of a trigger's credential, if it is known. */
  readonly ownAccount: (trigger: string) => string | undefined
  readonly now: number
}

export interface Admission {
  readonly accepted: true
  /** Parts of the configuration that decided. */
  readonly rule: Reason
  readonly trigger: TriggerProfile
  readonly workspace: Workspace
  readonly change: Change
  /** Hash of the snapshot that decided. The work runs under it. */
  readonly configHash: string
  readonly priority: number
  readonly dueAt: number
  /** Command of a comment. All but `review` are executed instead of a review. */
  readonly request: CommandRequest | undefined
}

export interface Refusal {
  readonly accepted: false
  readonly reason: IgnoreReason
  /** Part of the configuration or of the delivery that decided. */
  readonly rule: Reason | undefined
  readonly trigger: TriggerProfile | undefined
  readonly workspace: Workspace | undefined
  /** Target that was closed, whose entries are to be cancelled for this reason. */
  readonly closes: { readonly targetKey: TargetKey; readonly reason: Reason } | undefined
}

export type Admitted = Admission | Refusal

const refuse = (
  reason: IgnoreReason,
  rule: Reason | undefined,
  binding?: { readonly trigger?: TriggerProfile | undefined; readonly workspace?: Workspace | undefined },
  closes?: Refusal["closes"]
): Refusal => ({
  accepted: false,
  reason,
  rule,
  trigger: binding?.trigger,
  workspace: binding?.workspace,
  closes
})

/**
 * Replaces the URLs of a repository: clone URLs are built from the configured host, because a payload must not choose where the service
 * connects to.
 */
const trustedRepo = ({ fullName, hostId, webUrl }: Repo, baseUrl: string | undefined): Repo => ({
  fullName,
  ...(baseUrl === undefined ? undefined : { cloneUrl: cloneUrl(baseUrl, { fullName }) }),
  ...(webUrl === undefined ? undefined : { webUrl }),
  ...(hostId === undefined ? undefined : { hostId })
})

const sameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** Returns whether one of these branches is meant, or all are: none is listed, or its name is unknown. */
export const isWatched = (branches: ReadonlyArray<string> | undefined, branch: string | undefined): boolean =>
  branches === undefined || branches.length === 0 || branch === undefined || branches.includes(branch)

/** A delivery whose event names a repository, with its trigger and workspace. */
interface Bound {
  readonly snapshot: Snapshot
  readonly binding: Binding
  readonly now: number
  /** Fields shared by every change of this delivery. */
  readonly common: Pick<Change, "provider" | "trigger" | "workspace" | "repo">
  /** Base branch of the event's pull request, from this or an earlier delivery. */
  readonly base: string | undefined
}

type EventOf<Tag extends HostEvent["_tag"]> = Extract<HostEvent, { readonly _tag: Tag }>

const boundTag = ({ target }: Change, isLater: boolean) => {
  if (!isLater) return "BoundBy"
  return target.kind === "push" ? "BoundPushDelayed" : "BoundPullDelayed"
}

const start = (
  { binding, now, snapshot }: Bound,
  change: Change,
  priority: number,
  dueAt: number,
  request?: CommandRequest
): Admission => ({
  accepted: true,
  rule: { ...describeBinding(binding, change.repo.fullName), _tag: boundTag(change, dueAt > now) },
  trigger: binding.trigger,
  workspace: binding.workspace,
  change,
  configHash: snapshot.hash,
  priority,
  dueAt,
  request
})

const admitPull = (bound: Bound, { pull }: EventOf<"PullRequestUpdated">): Admitted => {
  const { binding, common, now } = bound
  const { review } = binding.workspace
  if (pull.draft && review.skip_drafts) return refuse("draft", { _tag: "DraftsSkipped" }, binding)
  const ignored = pull.labels.find((label) => isIgnoredLabel(review, label))
  if (ignored !== undefined) {
    return refuse("label_ignored", { _tag: "LabelListed", label: ignored }, binding)
  }
  if (!isWatched(review.pull_request.include_target_branches, pull.baseRef)) {
    return refuse("target_branch_not_watched", { _tag: "TargetBranchUnlisted", branch: pull.baseRef ?? "" }, binding)
  }
  const { draft: _draft, labels: _labels, number, ...described } = pull
  const change = { ...common, target: { kind: "pull_request", number } as const, ...described }
  return start(bound, change, Priority.pullRequest, pullRequestDue(review, now))
}

const toGroupTarget = ({ branch, number }: MergeGroupFacts): Change["target"] => ({
  kind: "merge_group",
  branch,
  ...(number === undefined ? {} : { number })
})

/** Permissions are read by name, so a request requires one. An account of a host is never an administrator of this service. */
const mayHaveRights = <A extends { readonly username: string }>(sender: A | undefined): sender is A =>
  sender !== undefined && !isTrustedRequester(sender.username)

/** A merge queue waits for the verdict, so that no schedule delays it. Nothing else of its review is published. */
const admitGroup = (bound: Bound, event: EventOf<"MergeGroupQueued">): Admitted => {
  const { binding, common, now } = bound
  const { base, group, head, isRepeated, sender } = event
  const { review } = binding.workspace
  if (isRepeated === true && !mayHaveRights(sender))
    return refuse("unsupported_action", { _tag: "WriterUnnamed" }, binding)
  if (!review.status_check) return refuse("unsupported_event", { _tag: "StatusChecksOff" }, binding)
  const { baseRef, branch } = group
  if (!isWatched(review.pull_request.include_target_branches, baseRef)) {
    return refuse("target_branch_not_watched", { _tag: "TargetBranchUnlisted", branch: baseRef }, binding)
  }
  const described = { ...common, target: toGroupTarget(group), head, base, headRef: branch, baseRef }
  const change: Change = isRepeated === true ? { ...described, requestedBy: sender?.username } : described
  return start(bound, change, Priority.command, now)
}

/** Returns the target that an event closes. */
const findClosed = (
  event: EventOf<"PullRequestClosed" | "MergeGroupEnded">,
  common: Bound["common"]
): { readonly rule: Reason; readonly closes: NonNullable<Refusal["closes"]> } => {
  if (event._tag === "MergeGroupEnded") {
    const key = targetKey({ ...common, target: toGroupTarget(event.group) })
    return { rule: { _tag: "MergeGroupEnded" }, closes: { targetKey: key, reason: { _tag: "MergeGroupEnded" } } }
  }
  const key = targetKey({ ...common, target: { kind: "pull_request", number: event.number } })
  return { rule: { _tag: "PullRequestEnded" }, closes: { targetKey: key, reason: { _tag: "PullRequestClosed" } } }
}

const toCovers = ({ listed }: EventOf<"Pushed">): Pick<Change, "covers"> => {
  const covers = listed.flatMap(({ id }) => id ?? [])
  return covers.length === 0 ? {} : { covers }
}

const admitPush = (bound: Bound, event: EventOf<"Pushed">): Admitted => {
  const { binding, common, now } = bound
  const { review } = binding.workspace
  const branches = review.auto_commit.include_branches
  const watched = event.created ? (branches?.includes(event.branch) ?? false) : isWatched(branches, event.branch)
  if (!watched) {
    const tag = event.created ? "NewBranchUnlisted" : "BranchUnlisted"
    return refuse("branch_not_watched", { _tag: tag, branch: event.branch }, binding)
  }
  if (isExcluded(review.auto_commit.exclude_sources ?? [], event)) {
    return refuse("source_excluded", { _tag: "SourcesExcluded" }, binding)
  }
  const change: Change = {
    ...common,
    target: { kind: "push", branch: event.branch },
    head: event.after,
    // A new branch has no commit before it, so the run compares with the default branch.
    base: event.created ? undefined : event.before,
    headRef: event.branch,
    author: event.sender,
    commits: Math.max(1, event.commits),
    ...toCovers(event)
  }
  return start(bound, change, Priority.automatic, pushDue(review, now))
}

const admitCommand = (bound: Bound, event: EventOf<"Commanded">, inThread = false): Admitted => {
  const { base, binding, common, now } = bound
  const { command, comment, sender } = event
  if (!binding.workspace.review.comment_commands && event.isButton !== true) {
    return refuse("unsupported_action", { _tag: "CommentCommandsOff" }, binding)
  }
  if (!mayHaveRights(sender)) return refuse("unsupported_action", { _tag: "WriterUnnamed" }, binding)
  const change: Change = {
    ...common,
    target: { kind: "pull_request", number: event.number },
    title: event.title,
    url: event.url,
    requestedBy: sender.username
  }
  const request: CommandRequest = { command, comment, ...(inThread ? { inThread: true } : {}) }
  if (command.name === "review") {
    const due = commandDue(binding.workspace.review, "pull_request", now)
    return start(bound, { ...change, full: command.full }, Priority.command, due, request)
  }
  return start(bound, { ...change, baseRef: base }, Priority.command, now, request)
}

/**
 * Returns the command of a comment without a prefix. As the first word of a reply it counts only in a thread of the service, which the
 * delivery does not show: its execution reads the thread, and a review is requested only by what is known to be a reply.
 */
const readAddressed = (
  event: EventOf<"Discussed">,
  own: string | undefined
): { readonly event: EventOf<"Commanded">; readonly inThread: boolean } | undefined => {
  const { body, comment, isReply, number } = event
  if (comment.on !== "pull_request" || number === undefined) return undefined
  const mentioned = findAddressedCommand(body, own, false)
  const command = mentioned ?? findAddressedCommand(body, own, isReply)
  if (command === undefined || (mentioned === undefined && command.name === "review" && comment.kind !== "line"))
    return undefined
  return { event: { ...event, _tag: "Commanded", command, number }, inThread: mentioned === undefined }
}

/** A reply neither supersedes nor waits for the review of its change: its target is the comment. */
const admitDiscussed = (bound: Bound, event: EventOf<"Discussed">, own: string | undefined): Admitted => {
  const { base, binding, common, now } = bound
  const { comment, number, sender, subject, title, url } = event
  const refused = refuseDiscussed(binding.workspace, event, own)
  if (refused !== undefined) return refuse("unsupported_action", refused, binding)
  const change: Change = {
    ...common,
    target: { kind: "comment", number, comment },
    // Of a comment on a commit.
    head: number === undefined ? subject.head : undefined,
    baseRef: base,
    title,
    url,
    author: sender
  }
  return start(bound, change, Priority.reply, now)
}

const admitIssue = (bound: Bound, event: EventOf<"IssueChanged">): Admitted => {
  const { binding, common, now } = bound
  const { enabled, events } = binding.workspace.triage
  if (!hasTriage(event.provider)) {
    return refuse("unsupported_event", { _tag: "IssuesUnsupported", host: event.provider }, binding)
  }
  if (!enabled || !events.includes("issues")) {
    return refuse("unsupported_event", { _tag: "IssuesNotTriaged" }, binding)
  }
  const change: Change = {
    ...common,
    target: { kind: "issue", number: event.number },
    title: event.title,
    url: event.url,
    author: event.sender
  }
  return start(bound, change, Priority.automatic, now)
}

const noBases: ReadonlyMap<string, string> = new Map()

/** Returns the refusal of an event that starts no review in any configuration, with the workspace that it would belong to. */
const refuseIgnored = ({ ownAccount, snapshot, verified }: Delivery, event: EventOf<"Ignored">): Refusal => {
  const { repo } = event
  const selection = repo === undefined ? undefined : select(snapshot, verified, () => sourceFacts(event, repo))
  const binding = selection?._tag === "Bound" ? selection.binding : (selection ?? { trigger: onlyOne(verified) })
  const own = binding.trigger === undefined ? undefined : ownAccount(binding.trigger.name)
  const reason = isOfStranger(event, own) ? "unsupported_action" : event.reason
  const rule: Reason =
    reason === "own_event"
      ? { _tag: "OwnComment" }
      : { _tag: "EventIgnored", event: [event.event, event.action].filter(Boolean).join(" ") }
  return refuse(reason, rule, binding)
}

/**
 * Returns whether a person who changed their own comment wrote the service's marker into it: such deliveries say nothing about comments of the
 * service. The account may have been renamed, so that comments of others are not compared with its name.
 */
const isOfStranger = ({ reason, sender, writer }: EventOf<"Ignored">, own: string | undefined): boolean =>
  reason === "own_event" &&
  own !== undefined &&
  sender !== undefined &&
  writer !== undefined &&
  sameName(sender.username, writer) &&
  !sameName(writer, own)

/** Selects the workspace of an event about a repository. */
const selectFor = (
  { bases, snapshot, verified }: Delivery,
  event: Exclude<HostEvent, EventOf<"Ping" | "Lifecycle" | "Ignored">>,
  source: SourceFacts
): { readonly _tag: "Bound"; readonly binding: Binding } | Refusal => {
  const selection =
    event._tag === "Commanded" || event._tag === "Discussed" || event._tag === "PullRequestClosed"
      ? selectByPull(snapshot, verified, source, bases ?? noBases)
      : select(snapshot, verified, () => source)
  if (selection._tag === "Bound") return selection
  const { candidates, reason, trigger, workspace } = selection
  const facts = { repo: event.repo.fullName, branch: source.branch, trigger, workspace, candidates }
  return refuse(reason, describeRoute(reason, facts), selection)
}

const lifecycleRules = { installation: "InstallationChanged", repository: "RepositoriesChanged" } as const

export const admit = (delivery: Delivery): Admitted => {
  const { event, now, ownAccount, snapshot, verified } = delivery
  const unrouted = { trigger: onlyOne(verified) }
  switch (event._tag) {
    case "Ping":
      return refuse("pong", { _tag: "WebhookTested" }, unrouted)
    case "Lifecycle":
      return refuse("lifecycle", { _tag: lifecycleRules[event.changed] }, unrouted)
    case "Ignored":
      return refuseIgnored(delivery, event)
  }

  const source = sourceFacts(event, event.repo)
  const selection = selectFor(delivery, event, source)
  if (!("_tag" in selection)) return selection
  const { binding } = selection
  const { trigger, workspace } = binding
  const common = {
    provider: event.provider,
    trigger: trigger.name,
    workspace: workspace.id,
    repo: trustedRepo(event.repo, trigger.baseUrl)
  }
  if (event._tag === "PullRequestClosed" || event._tag === "MergeGroupEnded") {
    const { closes, rule } = findClosed(event, common)
    return refuse("closed", rule, binding, closes)
  }
  const bound: Bound = { snapshot, binding, now, common, base: source.branch ?? delivery.bases?.get(trigger.name) }
  // The checks are required also if the account of the trigger added the pull request to the queue.
  if (event._tag === "MergeGroupQueued") return admitGroup(bound, event)
  const own = ownAccount(trigger.name)
  if (own !== undefined && event.sender !== undefined && sameName(event.sender.username, own)) {
    return refuse("own_event", { _tag: "OwnAccount", account: own, trigger: trigger.name }, binding)
  }

  switch (event._tag) {
    case "PullRequestUpdated":
      return admitPull(bound, event)
    case "Pushed":
      return admitPush(bound, event)
    case "Commanded":
      return admitCommand(bound, event)
    case "Discussed": {
      const addressed = readAddressed(event, own)
      return addressed === undefined
        ? admitDiscussed(bound, event, own)
        : admitCommand(bound, addressed.event, addressed.inThread)
    }
    case "IssueChanged":
      return admitIssue(bound, event)
  }
}
