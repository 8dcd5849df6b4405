/**
 * Managed issues in the change's repository, for every host. The plan contains the problems of the review. Sending it reads the
 * existing issues by the own account, calls `reconcile` and returns one operation per write, so that each write is a publication
 * of its own.
 */
import { Effect } from "effect"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { Change } from "../../domain/Change.ts"
import type { Severity } from "../../domain/Kinds.ts"
import type { IssueProblem, Operation, Publication } from "../../domain/Publication.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { ForgeClient, HostLabel } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { rulesRevision } from "../../forge/RulesRevision.ts"
import { resolveAuthor } from "../channels/Author.ts"
import { planIssueNotice, sendIssueNotice } from "../chat/BotChannel.ts"
import { unwritten } from "../channels/Channel.ts"
import type { ChannelKind, PublishInput, ChannelContext, RuledFinding, Sent } from "../channels/Channel.ts"
import { deleteIssue } from "./DeleteIssue.ts"
import { wrongChannelKind } from "../channels/WrongChannelKind.ts"
import { planIssueChanges } from "./IssueChanges.ts"
import { labelsFor, rulingNote } from "../Labels.ts"
import { toSearchText, withoutStates } from "../Marker.ts"
import { isMarkedResolved, parseManagedIssue, renderResolvedBody } from "./IssueText.ts"
import { operationId, rulingId } from "../channels/OperationId.ts"
import { oneLine, plainLine } from "../text/InertText.ts"
import { findOwners } from "./Owners.ts"
import { withRaised } from "./RaisedIssues.ts"
import { Records } from "../Records.ts"
import { renderIssueText } from "../text/Render.ts"
import { issueScope } from "../channels/Scopes.ts"
import { severityLabel } from "./SeverityLabel.ts"
import { listPresent, visibleFindings } from "../review/VisibleFindings.ts"

/** Maximum number of own issues that are read; dismissals in older ones have no effect. */
const maxOpen = 2000
const maxClosed = 300
/** Maximum number of problems whose code one review searches for. */
const maxCodes = 500
const maxTitleLength = 200

const renderTitle = (channel: ChannelConfig, text: string): string =>
  oneLine(`${channel.marker_prefix} ${text}`).trim().slice(0, maxTitleLength).toWellFormed()

const toIssueProblem = (input: PublishInput, channel: ChannelConfig, finding: Finding): IssueProblem => {
  const { problem, anchor, code, fingerprint } = finding
  const file = anchor?.path ?? problem.file
  const name = problem.title ?? problem.message.split("\n")[0] ?? ""
  return {
    fp: fingerprint,
    file,
    ...(code === undefined ? {} : { code }),
    severity: problem.severity,
    title: renderTitle(channel, `${plainLine(name)} (${plainLine(file)})`),
    text: renderIssueText(input, channel, finding)
  }
}

const targetName = ({ target, repo }: Change): string =>
  target.kind === "pull_request" ? `#${target.number}` : plainLine(target.branch ?? repo.fullName)

/** Returns the code of the newest open issues. */
const listIssueCode: ChannelKind["issueCode"] = Effect.fnUntraced(function* ({
  channel,
  change,
  client,
  reviewed,
  workspace
}) {
  // The problems of one consolidated issue are removed in place, whatever happens to the issue.
  if (channel.resolved_action === "none" && channel.issue_mode !== "consolidated") return []
  const issues = yield* (yield* client).issues.list(change.repo, "open", maxOpen)
  const scope = issueScope(reviewed, channel.marker_label ?? channel.name)
  return issues
    .flatMap((issue) => (isMarkedResolved(issue) ? [] : (parseManagedIssue(issue, scope) ?? [])))
    .slice(0, workspace.review.problem_issue.max_recent_issues)
    .flatMap(({ sections }) => sections.flatMap(({ files, code }) => files.map((file) => ({ file, code }))))
    .slice(0, maxCodes)
})

export const issueChannel = (limit: number): ChannelKind => ({
  serves: ({ target }) => target.kind !== "issue",

  plan: (input, channel) => {
    const { analysis, head, workspace, change } = input
    const { checked = [], skipped } = analysis
    // A skipped review found no problems, but a change that only moves or deletes files has an effect on existing issues.
    if (skipped !== undefined && checked.length === 0) return []
    const visible =
      skipped === undefined
        ? visibleFindings(channel, analysis).slice(0, channel.max_comments ?? Number.POSITIVE_INFINITY)
        : []
    const mode = channel.issue_mode ?? "per_problem"
    const subject = mode === "per_commit" ? head.slice(0, 12) : targetName(change)
    const operation: Operation = {
      _tag: "Issues",
      head,
      scope: issueScope(change, channel.marker_label ?? channel.name),
      mode,
      title: renderTitle(channel, labelsFor(workspace.review.output_language).problemsOf(subject)),
      problems: visible.map((finding) => toIssueProblem(input, channel, finding)),
      present: listPresent(analysis),
      ...(checked.length === 0 ? {} : { checked })
    }
    return [{ operationId: operationId(input, channel.name, "Issues", 0), operation }]
  },

  issueCode: listIssueCode,

  send: Effect.fnUntraced(function* (context, publication) {
    const client = yield* context.client
    const { operation } = publication
    switch (operation._tag) {
      case "Issues":
        return yield* planWrites(context, client, publication, operation, limit)
      case "Issue":
        return withNotice(context, publication, operation, yield* write(context, client, operation))
      case "Chat":
        return yield* sendIssueNotice(context, publication, operation)
      default:
        return yield* wrongChannelKind(publication)
    }
  }),

  find: Effect.fnUntraced(function* (context, publication) {
    const client = yield* context.client
    const { operation } = publication
    // Sent chat messages cannot be queried, and a duplicate would disturb the whole group.
    if (operation._tag === "Chat") return { hostId: `unconfirmed:${publication.operationId}`, url: undefined }
    // Reads and edits are idempotent; only a creation must not be repeated.
    if (operation._tag !== "Issue" || operation.action !== "create") return undefined
    const ownMarker = toSearchText({ op: publication.operationId })
    for (const state of ["open", "closed"] as const) {
      const issue = (yield* client.issues.list(context.change.repo, state, maxClosed)).find(({ body }) =>
        body.includes(ownMarker)
      )
      if (issue !== undefined) return withNotice(context, publication, operation, issue)
    }
    return undefined
  }),

  mark: (context, finding) => markIssues(context, finding, limit)
})

const planWrites = Effect.fnUntraced(function* (
  { channel, change, workspace }: ChannelContext,
  client: ForgeClient,
  publication: Publication,
  operation: Extract<Operation, { readonly _tag: "Issues" }>,
  limit: number
): Effect.fn.Return<Sent, ForgeError> {
  const listed = {
    open: yield* client.issues.list(change.repo, "open", maxOpen),
    closed: yield* client.issues.list(change.repo, "closed", maxClosed)
  }
  const { problems, scope } = operation
  const rows = (yield* Records).issues(publication)
  const { closed, open, taken } = yield* withRaised(client, change.repo, scope, listed, problems, rows)
  const next = planIssueChanges({
    operation: { ...operation, problems: problems.filter(({ fp }) => !taken.has(fp)) },
    publicationId: publication.operationId,
    channel,
    open,
    closed,
    maxRecent: workspace.review.problem_issue.max_recent_issues,
    limit,
    labels: labelsFor(workspace.review.output_language)
  })
  return next.length === 0
    ? unwritten(publication.operationId, { _tag: "IssuesCurrent" })
    : { hostId: publication.operationId, url: undefined, next }
})

/** Closes the issue of a finding, as a person would, or opens it again. An issue that holds several problems is not closed for one of them. */
const markIssues = Effect.fnUntraced(function* (
  { change, channel, client, reviewed, workspace }: ChannelContext,
  ruled: RuledFinding,
  limit: number
) {
  const { fp, state: next } = ruled
  const host = yield* client
  const scope = issueScope(reviewed, channel.marker_label ?? channel.name)
  const labels = labelsFor(workspace.review.output_language)
  const marked = new Set<number>()
  for (const state of ["open", "closed"] as const) {
    const issues = yield* host.issues.list(change.repo, state, state === "open" ? maxOpen : maxClosed)
    for (const issue of issues) {
      const sections = parseManagedIssue(issue, scope)?.sections ?? []
      const [section] = sections
      if (sections.length !== 1 || section?.fp !== fp || section.state === "resolved") continue
      marked.add(issue.number)
      if ((section.state === "open") === (next === "open")) continue
      const names = { op: rulingId(fp, String(issue.number)), scope }
      const body = renderResolvedBody(
        withoutStates(issue.body),
        rulingNote(labels, ruled),
        names,
        limit,
        labels.cut,
        next
      )
      yield* host.issues.edit(change.repo, issue.number, {
        title: undefined,
        body,
        state: next === "open" ? "open" : "closed"
      })
    }
  }
  return marked.size
})

/** Adds the chat message about a new issue. */
const withNotice = (
  context: ChannelContext,
  publication: Publication,
  operation: IssueOperation,
  written: Sent
): Sent => {
  const { url } = written
  const { action, title = "", severity } = operation
  const next = action === "create" ? planIssueNotice(context, publication, { title, url, severity }) : []
  return { ...written, next }
}

type IssueOperation = Extract<Operation, { readonly _tag: "Issue" }>

const write = Effect.fnUntraced(function* (context: ChannelContext, client: ForgeClient, operation: IssueOperation) {
  const { action, number, title, body, state, severity, files } = operation
  const { repo } = context.change
  if (number === undefined || action === "create") {
    const issue = {
      title: title ?? "",
      body: body ?? "",
      labels: toLabels(context.channel, severity),
      labelIds: context.channel.label_ids ?? [],
      assignees: yield* findAssignees(context, client, files)
    }
    return yield* client.issues.create(repo, issue)
  }
  const request =
    action === "delete"
      ? deleteIssue(client, repo, { number, body, channel: context.channel.name })
      : client.issues.edit(repo, number, { title, body, state, labels: toRelabelling(context.channel, operation) })
  // A deleted issue needs no further writes.
  return yield* Effect.catchIf(
    request,
    (error) => error.reason === "not_found",
    () => Effect.succeed(unwritten(String(number), { _tag: "GoneAtHost" }))
  )
})

const toLabels = (channel: ChannelConfig, severity: Severity | undefined): ReadonlyArray<HostLabel> => {
  const configured = (channel.labels ?? []).map((name) => ({ name, color: undefined }))
  const label = severityLabel(channel, severity)
  return label === undefined ? configured : [...configured, label]
}

/** Returns the change of labels of an edit; undefined if it changes none, or the channel no longer attaches any. */
const toRelabelling = (channel: ChannelConfig, { severity, oldSeverities = [] }: IssueOperation) => {
  const added = severityLabel(channel, severity)
  return added && { added, removed: oldSeverities.flatMap((old) => severityLabel(channel, old)?.name ?? []) }
}

const findAssignees = Effect.fnUntraced(function* (
  context: ChannelContext,
  client: ForgeClient,
  files: ReadonlyArray<string>
) {
  const { channel, change } = context
  const people = new Set<string>()
  if (channel.assign_committer && change.head !== undefined) {
    const author = yield* resolveAuthor(context, change.head)
    if (author !== undefined) people.add(author)
  }
  if (channel.add_owners_as_assignees === true) {
    // The owners file is read from the rules revision, because a change must not choose its own owners.
    const rules = yield* rulesRevision(change, client)
    const text = rules === undefined ? undefined : yield* client.file(change.repo, rules.commit, channel.owners_file)
    for (const owner of findOwners(text ?? "", files)) people.add(owner)
  }
  return [...people]
})
