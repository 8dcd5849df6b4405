/**
 * GitLab deliveries. The secret is sent along (`x-gitlab-token`) or, with a `whsec_` secret, signs the body. A merge request's
 * number is its iid; an update carries new commits only with `oldrev`; there is no base commit in the payload.
 */
import { signatureHeaders } from "../../domain/Vocabulary.ts"
import type { Person, Repo } from "../../domain/Change.ts"
import type { EventFacts, HostEvent, PullRequestFacts } from "../../domain/HostEvent.ts"
import type { ForgeWebhook } from "../Forge.ts"
import { findCommand, isOwnComment } from "../Command.ts"
import { deliveryIdIn, eventNameIn } from "../HeaderNames.ts"
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
  listedCommits,
  need,
  needNumber,
  parseDelivery,
  person,
  repo,
  text,
  webUrl
} from "../Payload.ts"
import type { Json } from "../Payload.ts"
import { isSigningToken, verifySigningToken, verifyToken } from "../Signature.ts"

const tokens = [signatureHeaders.gitlab, "x-gitlab-token"]

const senderOf = (payload: Json): Person | undefined => {
  const user = child(payload, "user")
  return user === undefined
    ? person(text(payload, "user_username"), text(payload, "user_name"))
    : person(text(user, "username"), text(user, "name"))
}

const repoOf = (payload: Json): Repo | undefined => {
  const project = child(payload, "project")
  if (project === undefined) return undefined
  return repo({
    fullName: fullName(text(project, "path_with_namespace", 512), "project.path_with_namespace"),
    cloneUrl: webUrl(project, "git_http_url"),
    webUrl: webUrl(project, "web_url"),
    hostId: integer(project, "id") ?? integer(payload, "project_id")
  })
}

const pullOf = (payload: Json, request: Json, sender: Person | undefined): PullRequestFacts => {
  const author = integer(request, "author_id")
  return {
    number: needNumber(request, "iid", "object_attributes.iid"),
    head: need(
      commit(child(request, "last_commit"), "id", "object_attributes.last_commit.id"),
      "object_attributes.last_commit.id",
      "a commit id"
    ),
    base: undefined,
    headRef: branch(text(request, "source_branch", limits.name + 1), "object_attributes.source_branch"),
    baseRef: branch(text(request, "target_branch", limits.name + 1), "object_attributes.target_branch"),
    title: text(request, "title", limits.title),
    description: text(request, "description", limits.description),
    url: webUrl(request, "url"),
    // The payload names the author by id only; the acting user is theirs to name when it is the same person.
    author: author !== undefined && author === integer(child(payload, "user"), "id") ? sender : undefined,
    draft: flag(request, "draft") || flag(request, "work_in_progress"),
    labels: children(payload, "labels")
      .slice(0, limits.labels)
      .flatMap((label) => text(label, "title") ?? [])
  }
}

const becameReady = (payload: Json): boolean => {
  const changes = child(payload, "changes")
  return ["draft", "work_in_progress"].some((name) => {
    const change = child(changes, name)
    return change?.["previous"] === true && change["current"] === false
  })
}

const read = (event: string, payload: Json): HostEvent => {
  const attributes = child(payload, "object_attributes")
  const action = text(attributes, "action", 100)
  const sender = senderOf(payload)
  const common = { provider: "gitlab", event, action, sender } as const
  const ignored = (reason: "unsupported_event" | "unsupported_action" | "own_event"): HostEvent => ({
    _tag: "Ignored",
    reason,
    ...common,
    repo: child(payload, "project")?.["path_with_namespace"] === undefined ? undefined : repoOf(payload)
  })
  const facts = (): EventFacts => ({ ...common, repo: need(repoOf(payload), "project", "an object") })

  switch (event) {
    case "Merge Request Hook": {
      const request = need(attributes, "object_attributes", "an object")
      if (action === "close" || action === "merge") {
        return { _tag: "PullRequestClosed", ...facts(), number: needNumber(request, "iid", "object_attributes.iid") }
      }
      const updated = action === "update" && (text(request, "oldrev") !== undefined || becameReady(payload))
      if (action !== "open" && action !== "reopen" && !updated) return ignored("unsupported_action")
      return { _tag: "PullRequestUpdated", ...facts(), pull: pullOf(payload, request, sender) }
    }
    case "Push Hook": {
      const ref = need(text(payload, "ref", 512), "ref", "a string")
      const after = need(commit(payload, "after", "after"), "after", "a commit id")
      const before = need(commit(payload, "before", "before"), "before", "a commit id")
      if (!ref.startsWith("refs/heads/") || isZero(after)) return ignored("unsupported_action")
      return {
        _tag: "Pushed",
        ...facts(),
        branch: need(branch(ref.slice("refs/heads/".length), "ref"), "ref", "a branch"),
        before,
        after,
        created: isZero(before),
        commits: integer(payload, "total_commits_count") ?? children(payload, "commits").length,
        listed: listedCommits(payload)
      }
    }
    case "Note Hook": {
      const request = child(payload, "merge_request")
      // Older servers name no action; they send this event for new notes only.
      const created = action === undefined || action === "create"
      if (!created || request === undefined || flag(attributes, "system")) return ignored("unsupported_action")
      const body = text(attributes, "note", limits.description) ?? ""
      if (isOwnComment(body)) return ignored("own_event")
      const command = findCommand(body)
      if (command === undefined) return ignored("unsupported_action")
      return {
        _tag: "Commanded",
        ...facts(),
        command,
        number: needNumber(request, "iid", "merge_request.iid"),
        title: text(request, "title", limits.title),
        url: webUrl(request, "url")
      }
    }
    case "Issue Hook": {
      if (action !== "open" && action !== "reopen") return ignored("unsupported_action")
      return {
        _tag: "IssueChanged",
        ...facts(),
        number: needNumber(attributes, "iid", "object_attributes.iid"),
        title: text(attributes, "title", limits.title),
        url: webUrl(attributes, "url")
      }
    }
    default:
      return ignored("unsupported_event")
  }
}

export const webhook: ForgeWebhook = {
  verify: (secret, headers, body, now) =>
    isSigningToken(secret) ? verifySigningToken(secret, headers, body, now) : verifyToken(secret, headers, tokens),
  deliveryId: (headers) => deliveryIdIn(headers, ["x-gitlab-event-uuid", "idempotency-key"]),
  parse: (headers, body) =>
    parseDelivery(headers, body, eventNameIn(headers, ["x-gitlab-event"]), "x-gitlab-event", read)
}
