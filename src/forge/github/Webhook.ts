/** GitHub deliveries. The signature covers the raw body for every content type; docs/triggers.md lists the events and actions. */
import { signatureHeaders } from "../../domain/Vocabulary.ts"
import type { CommentPlace, Person } from "../../domain/Change.ts"
import { findCommand, isOwnComment } from "../../domain/CommentCommand.ts"
import type { EventFacts, HostEvent, IgnoredEvent } from "../../domain/HostEvent.ts"
import type { ForgeWebhook } from "../Forge.ts"
import { deliveryIdIn, eventNameIn } from "../webhook/HeaderNames.ts"
import {
  child,
  children,
  flag,
  integer,
  limits,
  numberedId,
  optional,
  requireValue,
  requireNumber,
  parseDelivery,
  person,
  text
} from "../webhook/Payload.ts"
import type { PayloadJson } from "../webhook/Payload.ts"
import {
  changesRepositories,
  isOwnIssue,
  readBaseRef,
  readIssue,
  readPull,
  readPush,
  readRejected,
  readRepo,
  readTextBefore
} from "../webhook/GithubPayload.ts"
import { hexHmac } from "../webhook/Signature.ts"
import { readNumber, statusContext } from "./CheckIdentity.ts"
import { toCommentId } from "./CommentId.ts"
import { readCheckedGroup, readGroupCommits, readMergeGroup } from "../webhook/MergeGroup.ts"
import { readGithubSubject } from "../webhook/DeliverySubject.ts"

const signatures = [signatureHeaders.github, "x-hub-signature-256"]
const starts = new Set(["opened", "reopened", "synchronize", "ready_for_review", "review_requested"])
/** Actions with which a text appears, by event. */
const textStarts: Readonly<Record<string, string>> = {
  issue_comment: "created",
  pull_request_review_comment: "created",
  pull_request_review: "submitted",
  commit_comment: "created"
}
/** Action with which a person repeats a check, or all checks of an app on a commit. Only the app gets it. */
const rerequested = "rerequested"
/** Action with which a merge queue requests the checks of a group. */
const checksRequested = "checks_requested"
const issueStarts = new Set(["opened", "reopened", "edited"])

/** Returns whether work may start from such a delivery, by what the headers and lists of GitHub have of it. */
export const mayStart = (event: string, action: string | null): boolean => {
  switch (event) {
    case "push":
      return true
    case "pull_request":
      return action === "edited" || starts.has(action ?? "")
    case "issue_comment":
    case "pull_request_review_comment":
    case "pull_request_review":
    case "commit_comment":
      return action === textStarts[event]
    case "issues":
      return issueStarts.has(action ?? "")
    case "check_run":
    case "check_suite":
      return action === rerequested
    case "merge_group":
      return action === checksRequested
    default:
      return false
  }
}

const toPerson = (user: PayloadJson | undefined): Person | undefined => person(text(user, "login"), text(user, "name"))

const readPullNumber = (pull: PayloadJson): number => requireNumber(pull, "number", "pull_request.number")

/** A pull request is edited when its target branch changes, which changes the diff. */
const startsReview = (action: string | undefined, payload: PayloadJson): boolean =>
  action !== undefined &&
  (starts.has(action) || (action === "edited" && child(child(payload, "changes"), "base") !== undefined))

/** Returns the place of a comment or of the text of a review; undefined for one without an id. */
const readPlace = (event: string, payload: PayloadJson): CommentPlace | undefined => {
  const comment = child(payload, event === "pull_request_review" ? "review" : "comment")
  const id = numberedId(comment, "id")
  if (id === undefined) return undefined
  switch (event) {
    case "pull_request_review":
      return { id: toCommentId("review", id), on: "pull_request", kind: "review" }
    case "commit_comment":
      return { id: toCommentId("commit", id), on: "commit", kind: "general" }
    case "issue_comment": {
      const isPull = child(child(payload, "issue"), "pull_request") !== undefined
      return { id, on: isPull ? "pull_request" : "issue", kind: "general" }
    }
    default: {
      const thread = numberedId(comment, "in_reply_to_id")
      const place = { id: toCommentId("line", id), on: "pull_request", kind: "line" } as const
      return thread === undefined ? place : { ...place, thread }
    }
  }
}

/** Returns the pull request whose check is to be repeated: that which the check names, or the first one of the repository with the commit. */
const readRepeated = (event: "check_run" | "check_suite", payload: PayloadJson) => {
  const check = child(payload, event)
  const repository = numberedId(child(payload, "repository"), "id")
  const pulls = children(check, "pull_requests").filter(
    (pull) => numberedId(child(child(pull, "base"), "repo"), "id") === repository
  )
  const named = event === "check_run" ? readNumber(text(check, "name"), text(check, "external_id")) : undefined
  if (event === "check_run" && named === undefined) return undefined
  const pull = pulls.find((one) => named === undefined || integer(one, "number") === named)
  const number = named ?? integer(pull, "number")
  return number === undefined ? undefined : { number, baseRef: readBaseRef(pull) }
}

/** Returns whether a delivery of this kind is about a check of the service. */
const isOwnCheck = (event: "check_run" | "check_suite", payload: PayloadJson): boolean =>
  event === "check_suite" || text(child(payload, event), "name") === statusContext

/** Returns undefined for an action about a group that starts and ends nothing. */
const readGroup = (
  payload: PayloadJson,
  action: string | undefined,
  facts: () => EventFacts
): HostEvent | undefined => {
  const merged = child(payload, "merge_group")
  const group = readMergeGroup(merged)
  if (group === undefined) return undefined
  if (action === "destroyed") return { _tag: "MergeGroupEnded", ...facts(), group }
  return action === checksRequested
    ? { _tag: "MergeGroupQueued", ...facts(), group, ...readGroupCommits(merged) }
    : undefined
}

const read = (event: string, payload: PayloadJson): HostEvent => {
  const action = text(payload, "action", 100)
  const sender = toPerson(child(payload, "sender"))
  const common = { provider: "github", event, action, sender, subject: readGithubSubject(payload) } as const
  if (event === "ping") return { _tag: "Ping", ...common }
  if (event === "installation" || event === "installation_repositories")
    return { _tag: "Lifecycle", ...common, changed: "installation" }
  if (event === "repository" && changesRepositories(action))
    return { _tag: "Lifecycle", ...common, changed: "repository" }

  const repository = readRepo(payload)
  const ignored = (reason: IgnoredEvent["reason"]): IgnoredEvent => ({
    _tag: "Ignored",
    reason,
    ...common,
    repo: repository
  })
  const facts = (): EventFacts => ({ ...common, repo: requireValue(repository, "repository", "an object") })

  switch (event) {
    case "pull_request": {
      const pull = requireValue(child(payload, "pull_request"), "pull_request", "an object")
      if (action === "closed")
        return { _tag: "PullRequestClosed", ...facts(), number: readPullNumber(pull), baseRef: readBaseRef(pull) }
      if (!startsReview(action, payload)) return ignored("unsupported_action")
      return {
        _tag: "PullRequestUpdated",
        ...facts(),
        pull: readPull(pull, { number: readPullNumber(pull), draft: flag(pull, "draft") }, toPerson),
        isHeadOnly: action === "opened" || action === "synchronize"
      }
    }
    case "push": {
      const push = readPush(payload)
      if (push === undefined) return ignored("unsupported_action")
      return { _tag: "Pushed", ...facts(), ...push }
    }
    case "issue_comment":
    case "pull_request_review_comment":
    case "pull_request_review":
    case "commit_comment": {
      const comment = child(payload, event === "pull_request_review" ? "review" : "comment")
      const body = text(comment, "body", limits.description) ?? ""
      const writer = child(comment, "user")
      if (isOwnComment(body, readTextBefore(payload)))
        return { ...ignored("own_event"), writer: optional(() => toPerson(writer))?.username }
      const place = readPlace(event, payload)
      if (action !== textStarts[event] || body === "") return ignored("unsupported_action")
      const issue = child(payload, event === "issue_comment" ? "issue" : "pull_request")
      const about = { ...facts(), baseRef: readBaseRef(issue) }
      const isOnPull = child(payload, "pull_request") !== undefined || child(issue, "pull_request") !== undefined
      const command = isOnPull ? findCommand(body) : undefined
      if (command !== undefined) return { _tag: "Commanded", ...about, comment: place, command, ...readIssue(issue) }
      if (place === undefined || text(writer, "type") === "Bot") return ignored("unsupported_action")
      const on = issue === undefined ? { number: undefined, title: undefined, url: undefined } : readIssue(issue)
      const isReply = place.thread !== undefined || (place.on === "issue" && isOwnIssue(issue))
      return { _tag: "Discussed", ...about, comment: place, ...on, body, isReply }
    }
    case "issues": {
      if (action === undefined || !issueStarts.has(action)) return ignored("unsupported_action")
      return { _tag: "IssueChanged", ...facts(), ...readIssue(child(payload, "issue")) }
    }
    case "check_run":
    case "check_suite": {
      const group = action === rerequested && isOwnCheck(event, payload) ? readCheckedGroup(payload) : undefined
      if (group !== undefined) return { _tag: "MergeGroupQueued", ...facts(), ...group, isRepeated: true }
      const repeated = action === rerequested ? readRepeated(event, payload) : undefined
      if (repeated === undefined) return ignored("unsupported_action")
      const request = { command: { name: "review" }, isButton: true, comment: undefined } as const
      return { _tag: "Commanded", ...facts(), ...request, ...repeated, title: undefined, url: undefined }
    }
    case "merge_group":
      return readGroup(payload, action, facts) ?? ignored("unsupported_action")
    default:
      return ignored("unsupported_event")
  }
}

const describe = readRejected(toPerson)

export const webhook: ForgeWebhook = {
  signs: "body",
  signature: (headers) => hexHmac(headers, signatures, "prefixed"),
  deliveryId: (headers) => deliveryIdIn(headers, ["x-github-delivery"]),
  parse: (headers, json) =>
    parseDelivery(json, eventNameIn(headers, ["x-github-event"]), "x-github-event", { read, describe })
}
