/**
 * Managed issues in the change's repository, for every host. The plan says what the review found; sending it reads our issues at
 * the host, decides by `reconcile` and yields one operation per write, so that each write is a row of the outbox of its own.
 */
import { Effect } from "effect"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Change } from "../domain/Change.ts"
import type { Severity } from "../domain/Kinds.ts"
import type { IssueProblem, Operation, Publication } from "../domain/Publication.ts"
import type { Finding } from "../domain/Problem.ts"
import type { ForgeClient, HostLabel, HostWrite } from "../forge/Forge.ts"
import { rulesRevision } from "../forge/RulesRevision.ts"
import { resolveAuthor } from "./Author.ts"
import { issueNotice, sendIssueNotice } from "./BotChannel.ts"
import type { ChannelKind, PublishInput, Reach, Sent } from "./Channel.ts"
import { foreign } from "./Foreign.ts"
import { issueChanges } from "./IssueChanges.ts"
import { labelsFor } from "./Labels.ts"
import { needle } from "./Marker.ts"
import { operationId } from "./OperationId.ts"
import { oneLine, plainLine } from "./InertText.ts"
import { ownersOf } from "./Owners.ts"
import { renderIssueText } from "./Render.ts"
import { issueScope } from "./Scopes.ts"
import { namesAll, shownBy } from "./Shown.ts"

/** Own issues looked at: beyond these an old dismissal is forgotten, and nobody has so many open. */
const mostOpen = 2000
const mostClosed = 300
const longestTitle = 200

const colors: Readonly<Record<Severity, string>> = {
  critical: "b91c1c",
  high: "ea580c",
  medium: "d97706",
  low: "ca8a04",
  info: "2563eb"
}

const titled = (channel: ChannelConfig, text: string): string =>
  oneLine(`${channel.marker_prefix} ${text}`).trim().slice(0, longestTitle).toWellFormed()

const problemOf = (input: PublishInput, channel: ChannelConfig, finding: Finding): IssueProblem => {
  const { problem, anchor, fingerprint } = finding
  const file = anchor?.path ?? problem.file
  const name = problem.title ?? problem.message.split("\n")[0] ?? ""
  return {
    fp: fingerprint,
    file,
    severity: problem.severity,
    title: titled(channel, `${plainLine(name)} (${plainLine(file)})`),
    text: renderIssueText(input, channel, finding)
  }
}

const targetName = ({ target, repo }: Change): string =>
  target.kind === "pull_request" ? `#${target.number}` : plainLine(target.branch ?? repo.fullName)

export const issueChannel = (limit: number): ChannelKind => ({
  serves: ({ target }) => target.kind !== "issue",

  plan: (input, channel) => {
    const { analysis, head, workspace, change } = input
    // What was not reviewed says nothing about what stands.
    if (analysis.skipped !== undefined) return []
    const shown = shownBy(channel, analysis).slice(0, channel.max_comments ?? Number.POSITIVE_INFINITY)
    const mode = channel.issue_mode ?? "per_problem"
    const where = mode === "per_commit" ? head.slice(0, 12) : targetName(change)
    const operation: Operation = {
      _tag: "Issues",
      head,
      scope: issueScope(change, channel.marker_label ?? channel.name),
      mode,
      title: titled(channel, labelsFor(workspace.review.output_language).problemsOf(where)),
      problems: shown.map((finding) => problemOf(input, channel, finding)),
      present: analysis.findings.map(({ fingerprint }) => fingerprint),
      analysed: namesAll(input) ? analysis.coverage.reviewed : []
    }
    return [{ operationId: operationId(input, channel.name, "Issues", 0), operation }]
  },

  send: Effect.fnUntraced(function* (reach, publication) {
    const client = yield* reach.client
    const { operation } = publication
    switch (operation._tag) {
      case "Issues": {
        const { channel, change, workspace } = reach
        const open = yield* client.issues.list(change.repo, "open", mostOpen)
        const closed = yield* client.issues.list(change.repo, "closed", mostClosed)
        const next = issueChanges({
          operation,
          asked: publication.operationId,
          channel,
          open,
          closed,
          mostRecent: workspace.review.problem_issue.max_recent_issues,
          limit,
          labels: labelsFor(workspace.review.output_language)
        })
        return { hostId: publication.operationId, url: undefined, next }
      }
      case "Issue":
        return noticed(reach, publication, operation, yield* write(reach, client, operation))
      case "Chat":
        return yield* sendIssueNotice(reach, publication, operation)
      default:
        return yield* foreign(publication)
    }
  }),

  find: Effect.fnUntraced(function* (reach, publication) {
    const client = yield* reach.client
    const { operation } = publication
    // A chat platform cannot be asked: a second message would disturb everybody.
    if (operation._tag === "Chat") return { hostId: `unconfirmed:${publication.operationId}`, url: undefined }
    // Reading and editing can be repeated; only a second creation would show.
    if (operation._tag !== "Issue" || operation.action !== "create") return undefined
    const mine = needle({ op: publication.operationId })
    for (const state of ["open", "closed"] as const) {
      const found = (yield* client.issues.list(reach.change.repo, state, mostClosed)).find(({ body }) =>
        body.includes(mine)
      )
      if (found !== undefined) return noticed(reach, publication, operation, found)
    }
    return undefined
  })
})

/** A new issue is told to the chat group of the channel. */
const noticed = (reach: Reach, publication: Publication, operation: IssueOperation, written: HostWrite): Sent => {
  const { hostId, url } = written
  const { action, title = "", severity } = operation
  const next = action === "create" ? issueNotice(reach, publication, { title, url, severity }) : []
  return { hostId, url, next }
}

type IssueOperation = Extract<Operation, { readonly _tag: "Issue" }>

const write = Effect.fnUntraced(function* (
  reach: Reach,
  client: ForgeClient,
  { action, number, title, body, state, severity, files }: IssueOperation
) {
  const { repo } = reach.change
  if (number === undefined || action === "create") {
    const issue = {
      title: title ?? "",
      body: body ?? "",
      labels: labelsOf(reach.channel, severity),
      labelIds: reach.channel.label_ids ?? [],
      assignees: yield* assigneesOf(reach, client, files)
    }
    return yield* client.issues.create(repo, issue)
  }
  const gone: HostWrite = { hostId: String(number), url: undefined }
  const done =
    action === "delete"
      ? Effect.as(client.issues.remove(repo, number), gone)
      : client.issues.edit(repo, number, { title, body, state })
  // An issue that somebody deleted needs no more writing.
  return yield* Effect.catchIf(
    done,
    (error) => error.reason === "not_found",
    () => Effect.succeed(gone)
  )
})

const labelsOf = (channel: ChannelConfig, severity: Severity | undefined): ReadonlyArray<HostLabel> => {
  const named = (channel.labels ?? []).map((name) => ({ name, color: undefined }))
  const prefix = channel.severity_label_prefix
  if (prefix === undefined || severity === undefined) return named
  const color = (channel.severity_label_colors?.[severity] ?? colors[severity]).replace("#", "")
  return [...named, { name: `${prefix}${severity}`, color }]
}

const assigneesOf = Effect.fnUntraced(function* (reach: Reach, client: ForgeClient, files: ReadonlyArray<string>) {
  const { channel, change } = reach
  const people = new Set<string>()
  if (channel.assign_committer && change.head !== undefined) {
    const author = yield* resolveAuthor(reach, change.head)
    if (author !== undefined) people.add(author)
  }
  if (channel.add_owners_as_assignees === true) {
    // A change does not choose its own owners.
    const rules = yield* rulesRevision(change, client)
    const text = rules === undefined ? undefined : yield* client.file(change.repo, rules.commit, channel.owners_file)
    for (const owner of ownersOf(text ?? "", files)) people.add(owner)
  }
  return [...people]
})
