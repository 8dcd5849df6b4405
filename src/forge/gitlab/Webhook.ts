/**
 * GitLab deliveries of projects, groups and whole instances (System Hooks). The secret is sent in a header (`x-gitlab-token`) or,
 * with a `whsec_` secret, signs the body. A merge request's number is its iid; an update has new commits only with `oldrev`; the
 * payload has no base commit.
 */
import { createHash } from "node:crypto"
import { signatureHeaders } from "../../domain/Vocabulary.ts"
import type { CommentPlace, Person, Repo } from "../../domain/Change.ts"
import { findCommand, isOwnComment } from "../../domain/CommentCommand.ts"
import { noSubject } from "../../domain/HostEvent.ts"
import type { EventFacts, HostEvent, IgnoredEvent, PullRequestFacts, DeliverySubject } from "../../domain/HostEvent.ts"
import type { ForgeWebhook, Headers, RejectedFacts, Signature } from "../Forge.ts"
import { deliveryIdIn, eventNameIn } from "../webhook/HeaderNames.ts"
import {
  branch,
  child,
  children,
  commit,
  flag,
  fullName,
  integer,
  isZero,
  limits,
  numberedId,
  listedCommits,
  optional,
  requireValue,
  requireNumber,
  parseDelivery,
  person,
  repo,
  text,
  webUrl
} from "../webhook/Payload.ts"
import type { PayloadJson } from "../webhook/Payload.ts"
import { isSigningToken, sentToken, standardWebhook } from "../webhook/Signature.ts"
import {
  readPushedSubject,
  readPusher,
  readSubjectBranch,
  readSubjectHead,
  readSubjectName,
  readSubjectNumber
} from "../webhook/DeliverySubject.ts"

/**
 * Retries of one delivery have the same `idempotency-key`. Servers without it send the UUID of the event, which a chain of events
 * shares (a push and the merge request that it updates); the body distinguishes them.
 */
const deliveryId: ForgeWebhook["deliveryId"] = (headers, json) => {
  const key = deliveryIdIn(headers, ["idempotency-key"])
  if (key !== undefined) return key
  const uuid = deliveryIdIn(headers, ["x-gitlab-event-uuid"])
  return uuid === undefined ? undefined : `${uuid}:${createHash("sha256").update(json).digest("hex")}`
}

/** Maps the event name in the payload of a System Hook to the corresponding project hook. */
const systemEvents: Readonly<Record<string, string>> = { push: "Push Hook", merge_request: "Merge Request Hook" }

/** Returns the name in the payload. It is only compared, so that a text that cannot be stored is another event and not a refusal. */
const nameIn = (payload: PayloadJson): unknown =>
  [payload["event_name"], payload["object_kind"]].find((value) => typeof value === "string" && value !== "")

const systemEvent = (payload: PayloadJson): string | undefined => {
  const name = nameIn(payload)
  return typeof name === "string" && Object.hasOwn(systemEvents, name) ? systemEvents[name] : undefined
}

/** Events of System Hooks and of webhooks of groups after which there are other projects, or other names. */
const projectEvents: ReadonlySet<unknown> = new Set([
  "project_create",
  "project_destroy",
  "project_rename",
  "project_transfer"
])

const changesProjects = (event: string, payload: PayloadJson): boolean =>
  (event === "System Hook" || event === "Project Hook") && projectEvents.has(nameIn(payload))

const tokens = [signatureHeaders.gitlab, "x-gitlab-token"]

const toSender = (payload: PayloadJson): Person | undefined => {
  const user = child(payload, "user")
  return user === undefined
    ? person(text(payload, "user_username"), text(payload, "user_name"))
    : person(text(user, "username"), text(user, "name"))
}

const toRepo = (payload: PayloadJson): Repo | undefined => {
  const project = child(payload, "project")
  if (project === undefined) return undefined
  return repo({
    fullName: fullName(text(project, "path_with_namespace", 512), "project.path_with_namespace"),
    cloneUrl: webUrl(project, "git_http_url"),
    webUrl: webUrl(project, "web_url"),
    hostId: integer(project, "id") ?? integer(payload, "project_id")
  })
}

const targetBranch = (request: PayloadJson, path: string): string | undefined =>
  branch(text(request, "target_branch", limits.name + 1), `${path}.target_branch`)

const toPull = (payload: PayloadJson, request: PayloadJson, sender: Person | undefined): PullRequestFacts => {
  const author = integer(request, "author_id")
  return {
    number: requireNumber(request, "iid", "object_attributes.iid"),
    head: requireValue(
      commit(child(request, "last_commit"), "id", "object_attributes.last_commit.id"),
      "object_attributes.last_commit.id",
      "a commit id"
    ),
    base: undefined,
    headRef: branch(text(request, "source_branch", limits.name + 1), "object_attributes.source_branch"),
    baseRef: targetBranch(request, "object_attributes"),
    title: text(request, "title", limits.title),
    description: text(request, "description", limits.description),
    url: webUrl(request, "url"),
    // The payload has only the id of the author; the name is known when the acting user is the same person.
    author: author !== undefined && author === integer(child(payload, "user"), "id") ? sender : undefined,
    draft: flag(request, "draft") || flag(request, "work_in_progress"),
    labels: children(payload, "labels")
      .slice(0, limits.labels)
      .flatMap((label) => text(label, "title") ?? [])
  }
}

const becameReady = (payload: PayloadJson): boolean => {
  const changes = child(payload, "changes")
  return ["draft", "work_in_progress"].some((name) => {
    const change = child(changes, name)
    return change?.["previous"] === true && change["current"] === false
  })
}

const wasRetargeted = (payload: PayloadJson): boolean => child(child(payload, "changes"), "target_branch") !== undefined

/** Returns the merge request, issue or branch that a payload is about. Only the acting user has a name in it. */
const toSubject = (event: string, payload: PayloadJson): DeliverySubject => {
  const attributes = child(payload, "object_attributes")
  const hook = event === "System Hook" ? systemEvent(payload) : event
  const request = hook === "Merge Request Hook" ? attributes : child(payload, "merge_request")
  const issue = hook === "Issue Hook" ? attributes : child(payload, "issue")
  const about = request ?? issue
  if (about === undefined && hook?.endsWith("Note Hook") === true)
    return { ...noSubject, head: readSubjectHead(child(payload, "commit"), "id") }
  if (about === undefined) return readPushedSubject(payload)
  const user = child(payload, "user")
  const sender = readSubjectName(user, "username")
  const author = integer(about, "author_id")
  const writer = author !== undefined && author === integer(user, "id") ? sender : undefined
  const action = hook === "Merge Request Hook" ? optional(() => text(attributes, "action", 100)) : undefined
  const pushes = action === "update" && optional(() => text(attributes, "oldrev")) !== undefined
  return {
    kind: request === undefined ? "issue" : "pull_request",
    number: readSubjectNumber(about, "iid"),
    head: readSubjectHead(child(request, "last_commit"), "id"),
    branch: readSubjectBranch(request, "target_branch"),
    author: writer,
    pusher: readPusher({ pushes, opens: action === "open" }, sender, writer),
    title: readSubjectName(about, "title")
  }
}

/** Returns the author of a comment, if it is the sender: the payload has only the id of another one. */
const readWriter = (payload: PayloadJson): string | undefined =>
  integer(child(payload, "object_attributes"), "author_id") === integer(child(payload, "user"), "id")
    ? toSender(payload)?.username
    : undefined

/** Returns the place of a note; undefined for one on a snippet. */
const readPlace = (payload: PayloadJson): CommentPlace | undefined => {
  const attributes = child(payload, "object_attributes")
  const id = numberedId(attributes, "id")
  const on =
    child(payload, "merge_request") !== undefined
      ? "pull_request"
      : child(payload, "issue") !== undefined
        ? "issue"
        : child(payload, "commit") !== undefined
          ? "commit"
          : undefined
  if (id === undefined || on === undefined) return undefined
  const place = { id, on, kind: text(attributes, "type") === "DiffNote" ? "line" : "general" } as const
  const thread = text(attributes, "discussion_id")
  return thread !== undefined && /^[0-9a-z]{1,64}$/i.test(thread) ? { ...place, thread } : place
}

const hasPush = (payload: PayloadJson): boolean => text(child(payload, "object_attributes"), "oldrev") !== undefined

const isNews = (payload: PayloadJson): boolean => hasPush(payload) || becameReady(payload) || wasRetargeted(payload)

const isOpenedOrPushed = (payload: PayloadJson, action: string | undefined): boolean =>
  !wasRetargeted(payload) && (action === "open" || hasPush(payload))

interface NoteParts {
  readonly action: string | undefined
  readonly facts: () => EventFacts
  readonly ignored: (reason: IgnoredEvent["reason"]) => IgnoredEvent
}

const readNote = (payload: PayloadJson, { action, facts, ignored }: NoteParts): HostEvent => {
  const attributes = child(payload, "object_attributes")
  const request = child(payload, "merge_request")
  const issue = child(payload, "issue")
  const body = text(attributes, "note", limits.description) ?? ""
  if (isOwnComment(body)) return { ...ignored("own_event"), writer: readWriter(payload) }
  const place = readPlace(payload)
  // Older servers send no action, and this event for new notes only.
  const created = action === undefined || action === "create"
  if (!created || body === "" || flag(attributes, "system")) return ignored("unsupported_action")
  const on = request ?? issue
  const about = {
    ...facts(),
    title: text(on, "title", limits.title),
    url: webUrl(on, "url"),
    baseRef: request === undefined ? undefined : targetBranch(request, "merge_request")
  }
  const path = request === undefined ? "issue.iid" : "merge_request.iid"
  const number = on === undefined ? undefined : requireNumber(on, "iid", path)
  const command = request === undefined ? undefined : findCommand(body)
  if (command !== undefined && number !== undefined)
    return { _tag: "Commanded", ...about, comment: place, command, number }
  if (place === undefined) return ignored("unsupported_action")
  // A note that is neither is below the merge request, and has no replies yet.
  const isOfThread = ["DiffNote", "DiscussionNote"].includes(text(attributes, "type") ?? "")
  const isOwn = isOwnComment(optional(() => text(issue, "description", limits.description)) ?? "")
  return { _tag: "Discussed", ...about, comment: place, number, body, isReply: isOfThread || isOwn }
}

const read = (event: string, payload: PayloadJson): HostEvent => {
  const attributes = child(payload, "object_attributes")
  const action = text(attributes, "action", 100)
  const sender = toSender(payload)
  const common = { provider: "gitlab", event, action, sender, subject: toSubject(event, payload) } as const
  const ignored = (reason: IgnoredEvent["reason"]): IgnoredEvent => ({
    _tag: "Ignored",
    reason,
    ...common,
    repo: child(payload, "project")?.["path_with_namespace"] === undefined ? undefined : toRepo(payload)
  })
  const facts = (): EventFacts => ({ ...common, repo: requireValue(toRepo(payload), "project", "an object") })

  if (changesProjects(event, payload)) return { _tag: "Lifecycle", ...common, changed: "repository" }

  switch (event === "System Hook" ? systemEvent(payload) : event) {
    case "Merge Request Hook": {
      const request = requireValue(attributes, "object_attributes", "an object")
      if (action === "close" || action === "merge") {
        return {
          _tag: "PullRequestClosed",
          ...facts(),
          number: requireNumber(request, "iid", "object_attributes.iid"),
          baseRef: targetBranch(request, "object_attributes")
        }
      }
      const updated = action === "update" && isNews(payload)
      if (action !== "open" && action !== "reopen" && !updated) return ignored("unsupported_action")
      const isHeadOnly = isOpenedOrPushed(payload, action)
      return { _tag: "PullRequestUpdated", ...facts(), pull: toPull(payload, request, sender), isHeadOnly }
    }
    case "Push Hook": {
      const ref = requireValue(text(payload, "ref", 512), "ref", "a string")
      const after = requireValue(commit(payload, "after", "after"), "after", "a commit id")
      const before = requireValue(commit(payload, "before", "before"), "before", "a commit id")
      if (!ref.startsWith("refs/heads/") || isZero(after)) return ignored("unsupported_action")
      return {
        _tag: "Pushed",
        ...facts(),
        branch: requireValue(branch(ref.slice("refs/heads/".length), "ref"), "ref", "a branch"),
        before,
        after,
        created: isZero(before),
        commits: integer(payload, "total_commits_count") ?? children(payload, "commits").length,
        listed: listedCommits(payload)
      }
    }
    case "Confidential Note Hook":
    case "Note Hook":
      return readNote(payload, { action, facts, ignored })
    case "Issue Hook": {
      if (action !== "open" && action !== "reopen") return ignored("unsupported_action")
      return {
        _tag: "IssueChanged",
        ...facts(),
        number: requireNumber(attributes, "iid", "object_attributes.iid"),
        title: text(attributes, "title", limits.title),
        url: webUrl(attributes, "url")
      }
    }
    default:
      return ignored("unsupported_event")
  }
}

const describe = (event: string, payload: PayloadJson): RejectedFacts => ({
  action: optional(() => text(child(payload, "object_attributes"), "action", 100)),
  sender: optional(() => toSender(payload)),
  repo: optional(() => toRepo(payload)),
  subject: toSubject(event, payload)
})

const signature = (headers: Headers): Signature | undefined => {
  const signed = standardWebhook(headers)
  const sent = sentToken(headers, tokens)
  if (signed === undefined && sent === undefined) return undefined
  return (secret, now) => (isSigningToken(secret) ? signed : sent)?.(secret, now) ?? false
}

export const webhook: ForgeWebhook = {
  signs: "body",
  signature,
  deliveryId,
  parse: (headers, json) =>
    parseDelivery(json, eventNameIn(headers, ["x-gitlab-event"]), "x-gitlab-event", { read, describe })
}
