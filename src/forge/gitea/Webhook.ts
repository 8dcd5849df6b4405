/**
 * Gitea deliveries, and Forgejo's through `makeGiteaWebhook`. Both send each other's headers and those of GitHub and Gogs in
 * addition to their own. The signature of a form delivery covers the JSON text, not the form. On servers without a draft flag,
 * drafts are pull requests whose title starts with `WIP:`.
 */
import { signatureHeaders } from "../../domain/Vocabulary.ts"
import type { CommentPlace, Person } from "../../domain/Change.ts"
import { findCommand, isOwnComment } from "../../domain/CommentCommand.ts"
import type { EventFacts, HostEvent, IgnoredEvent, PullRequestFacts } from "../../domain/HostEvent.ts"
import type { ForgeWebhook } from "../Forge.ts"
import { deliveryIdIn, eventNameIn } from "../webhook/HeaderNames.ts"
import {
  child,
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
import { readGithubSubject } from "../webhook/DeliverySubject.ts"

type GiteaKind = "gitea" | "forgejo"

const signatures = [signatureHeaders.gitea, "x-forgejo-signature", "x-gitea-signature", "x-hub-signature-256"]
const starts = new Set(["opened", "reopened", "synchronized", "review_requested"])
const workInProgress = /^(?:wip:|\[wip\])/i

const toPerson = (user: PayloadJson | undefined): Person | undefined =>
  person(text(user, "login") ?? text(user, "username"), text(user, "full_name"))

/** Some servers send the number only next to the pull request. */
const readNumber = (payload: PayloadJson, pull: PayloadJson): number =>
  requireNumber(integer(pull, "number") === undefined ? payload : pull, "number", "pull_request.number")

const toPull = (payload: PayloadJson, pull: PayloadJson): PullRequestFacts => {
  const title = text(pull, "title", limits.title)
  const draft = flag(pull, "draft") || (title !== undefined && workInProgress.test(title))
  return readPull(pull, { number: readNumber(payload, pull), draft }, toPerson)
}

/** Matches what a server may have as the prefix of the titles of drafts; `WIP:` and `[WIP]` by default. */
const draftPrefix = /^(?:\[[^\]]{1,40}\]|[^\s:]{1,40}:)\s*$/

/** Returns true for a title edit that removes the prefix of drafts, which is how these hosts mark a draft as ready. */
const becameReady = (payload: PayloadJson): boolean => {
  const pull = child(payload, "pull_request")
  const before = text(child(child(payload, "changes"), "title"), "from", limits.title)
  const now = text(pull, "title", limits.title)
  if (before === undefined || now === undefined || flag(pull, "draft") || workInProgress.test(now)) return false
  if (workInProgress.test(before)) return true
  // Where the server sends the flag, it follows the configured prefixes.
  const hasFlag = pull?.["draft"] === false
  return hasFlag && before.endsWith(now) && draftPrefix.test(before.slice(0, before.length - now.length))
}

/** Returns true when the target branch changed, which changes the diff. */
const wasRetargeted = (payload: PayloadJson): boolean => {
  const changes = child(payload, "changes")
  return [child(changes, "ref"), child(changes, "base")].some((change) => change !== undefined)
}

const isOnPull = (payload: PayloadJson): boolean =>
  flag(payload, "is_pull") ||
  child(child(payload, "issue"), "pull_request") !== undefined ||
  child(payload, "pull_request") !== undefined

/** Returns the place of a comment. The payload does not say whether it is at a line. */
const readPlace = (payload: PayloadJson): CommentPlace | undefined => {
  const id = numberedId(child(payload, "comment"), "id")
  if (id === undefined) return undefined
  return { id, on: isOnPull(payload) ? "pull_request" : "issue", kind: "general" }
}

/** Event types (one per kind of change) and events (one per payload) by the content of their payload. */
const families: Readonly<Record<string, "pull_request" | "push" | "comment" | "issues">> = {
  pull_request: "pull_request",
  pull_request_sync: "pull_request",
  pull_request_review_request: "pull_request",
  pull_request_assign: "pull_request",
  pull_request_label: "pull_request",
  pull_request_milestone: "pull_request",
  push: "push",
  issue_comment: "comment",
  pull_request_comment: "comment",
  pull_request_approved: "comment",
  pull_request_rejected: "comment",
  pull_request_review_approved: "comment",
  pull_request_review_rejected: "comment",
  pull_request_review_comment: "comment",
  issues: "issues",
  issue_assign: "issues",
  issue_label: "issues",
  issue_milestone: "issues"
}

const reader =
  (provider: GiteaKind) =>
  (event: string, payload: PayloadJson): HostEvent => {
    const action = text(payload, "action", 100)
    const sender = toPerson(child(payload, "sender"))
    const common = { provider, event, action, sender, subject: readGithubSubject(payload) }
    const repository = readRepo(payload)
    const ignored = (reason: IgnoredEvent["reason"]): IgnoredEvent => ({
      _tag: "Ignored",
      reason,
      ...common,
      repo: repository
    })
    const facts = (): EventFacts => ({ ...common, repo: requireValue(repository, "repository", "an object") })

    if (event === "repository" && changesRepositories(action))
      return { _tag: "Lifecycle", ...common, changed: "repository" }

    switch (Object.hasOwn(families, event) ? families[event] : undefined) {
      case "pull_request": {
        const pull = requireValue(child(payload, "pull_request"), "pull_request", "an object")
        if (action === "closed") {
          return {
            _tag: "PullRequestClosed",
            ...facts(),
            number: readNumber(payload, pull),
            baseRef: readBaseRef(pull)
          }
        }
        const isNews = action === "edited" && (becameReady(payload) || wasRetargeted(payload))
        if (action === undefined || (!starts.has(action) && !isNews)) return ignored("unsupported_action")
        const isHeadOnly = action === "opened" || action === "synchronized"
        return { _tag: "PullRequestUpdated", ...facts(), pull: toPull(payload, pull), isHeadOnly }
      }
      case "push": {
        const push = readPush(payload)
        if (push === undefined) return ignored("unsupported_action")
        const commits = integer(payload, "total_commits") ?? push.commits
        return { _tag: "Pushed", ...facts(), ...push, commits }
      }
      case "comment": {
        const comment = child(payload, "comment")
        const review = child(payload, "review")
        // A submitted review has a text and no id; its comments have no deliveries of their own.
        if (comment === undefined && review === undefined) return ignored("unsupported_event")
        const issue = child(payload, "issue") ?? child(payload, "pull_request")
        const content = text(review, "content", limits.description) ?? ""
        const body = comment === undefined ? content : (text(comment, "body", limits.description) ?? "")
        if (isOwnComment(body, readTextBefore(payload)))
          return { ...ignored("own_event"), writer: optional(() => toPerson(child(comment, "user")))?.username }
        if (action !== (comment === undefined ? "reviewed" : "created")) return ignored("unsupported_action")
        const about = { ...facts(), ...readIssue(issue), baseRef: readBaseRef(child(payload, "pull_request")) }
        const place = readPlace(payload)
        const command = isOnPull(payload) ? findCommand(body) : undefined
        if (command !== undefined) return { _tag: "Commanded", ...about, command, comment: place }
        if (place === undefined || (integer(child(comment, "user"), "id") ?? 0) < 0)
          return ignored("unsupported_action")
        const isReply = place.on === "pull_request" || isOwnIssue(issue)
        return { _tag: "Discussed", ...about, comment: place, body, isReply }
      }
      case "issues": {
        if (action !== "opened" && action !== "reopened") return ignored("unsupported_action")
        return { _tag: "IssueChanged", ...facts(), ...readIssue(child(payload, "issue")) }
      }
      case undefined:
        return ignored("unsupported_event")
    }
  }

const describe = readRejected(toPerson)

/** Builds the webhook half for one of the two hosts. Its own header names take precedence; both servers also send the other's. */
export const makeGiteaWebhook = (kind: GiteaKind, brands: readonly [GiteaKind, GiteaKind]): ForgeWebhook => {
  const events = [...brands.map((brand) => `x-${brand}-event-type`), ...brands.map((brand) => `x-${brand}-event`)]
  const deliveries = [...brands.map((brand) => `x-${brand}-delivery`), "x-github-delivery"]
  const read = reader(kind)
  return {
    signs: "json",
    signature: (headers) => hexHmac(headers, signatures, "bare_or_prefixed"),
    deliveryId: (headers) => deliveryIdIn(headers, deliveries),
    parse: (headers, json) => parseDelivery(json, eventNameIn(headers, events), `x-${kind}-event`, { read, describe })
  }
}

export const webhook: ForgeWebhook = makeGiteaWebhook("gitea", ["gitea", "forgejo"])
