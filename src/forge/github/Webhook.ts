/** GitHub deliveries. The signature covers the raw body for every content type; docs/triggers.md lists the events and actions. */
import { signatureHeaders } from "../../domain/Vocabulary.ts"
import type { Person, Repo } from "../../domain/Change.ts"
import type { EventFacts, HostEvent, PullRequestFacts } from "../../domain/HostEvent.ts"
import type { ForgeWebhook, RejectedFacts } from "../Forge.ts"
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
  optional,
  requireValue,
  requireNumber,
  parseDelivery,
  person,
  repo,
  text,
  webUrl
} from "../Payload.ts"
import type { PayloadJson } from "../Payload.ts"
import { hexHmac } from "../Signature.ts"
import { readGithubSubject } from "../DeliverySubject.ts"

const signatures = [signatureHeaders.github, "x-hub-signature-256"]
const starts = new Set(["opened", "reopened", "synchronize", "ready_for_review", "review_requested"])
const issueStarts = new Set(["opened", "reopened", "edited"])

const toPerson = (user: PayloadJson | undefined): Person | undefined => person(text(user, "login"), text(user, "name"))

const toRepo = (payload: PayloadJson): Repo | undefined => {
  const source = child(payload, "repository")
  if (source === undefined) return undefined
  return repo({
    fullName: fullName(text(source, "full_name", 512), "repository.full_name"),
    cloneUrl: webUrl(source, "clone_url"),
    webUrl: webUrl(source, "html_url"),
    hostId: integer(source, "id")
  })
}

const toBaseRef = (pull: PayloadJson | undefined): string | undefined =>
  branch(text(child(pull, "base"), "ref", limits.name + 1), "pull_request.base.ref")

const toPull = (pull: PayloadJson): PullRequestFacts => {
  const head = child(pull, "head")
  const base = child(pull, "base")
  return {
    number: requireNumber(pull, "number", "pull_request.number"),
    head: requireValue(commit(head, "sha", "pull_request.head.sha"), "pull_request.head.sha", "a commit id"),
    base: commit(base, "sha", "pull_request.base.sha"),
    headRef: branch(text(head, "ref", limits.name + 1), "pull_request.head.ref"),
    baseRef: toBaseRef(pull),
    title: text(pull, "title", limits.title),
    description: text(pull, "body", limits.description),
    url: webUrl(pull, "html_url"),
    author: toPerson(child(pull, "user")),
    draft: flag(pull, "draft"),
    labels: children(pull, "labels")
      .slice(0, limits.labels)
      .flatMap((label) => text(label, "name") ?? [])
  }
}

/** A pull request is edited when its target branch changes, which changes the diff. */
const startsReview = (action: string | undefined, payload: PayloadJson): boolean =>
  action !== undefined &&
  (starts.has(action) || (action === "edited" && child(child(payload, "changes"), "base") !== undefined))

const read = (event: string, payload: PayloadJson): HostEvent => {
  const action = text(payload, "action", 100)
  const sender = toPerson(child(payload, "sender"))
  const common = { provider: "github", event, action, sender, subject: readGithubSubject(payload) } as const
  if (event === "ping") return { _tag: "Ping", ...common }
  if (event === "installation" || event === "installation_repositories") return { _tag: "Lifecycle", ...common }

  const repository = toRepo(payload)
  const ignored = (reason: "unsupported_event" | "unsupported_action" | "own_event"): HostEvent => ({
    _tag: "Ignored",
    reason,
    ...common,
    repo: repository
  })
  const facts = (): EventFacts => ({ ...common, repo: requireValue(repository, "repository", "an object") })

  switch (event) {
    case "pull_request": {
      const pull = requireValue(child(payload, "pull_request"), "pull_request", "an object")
      if (action === "closed") {
        return {
          _tag: "PullRequestClosed",
          ...facts(),
          number: requireNumber(pull, "number", "pull_request.number"),
          baseRef: toBaseRef(pull)
        }
      }
      if (!startsReview(action, payload)) return ignored("unsupported_action")
      return { _tag: "PullRequestUpdated", ...facts(), pull: toPull(pull) }
    }
    case "push": {
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
        commits: children(payload, "commits").length,
        listed: listedCommits(payload)
      }
    }
    case "issue_comment":
    case "pull_request_review_comment": {
      const target = child(payload, event === "issue_comment" ? "issue" : "pull_request")
      if (action !== "created") return ignored("unsupported_action")
      if (event === "issue_comment" && child(target, "pull_request") === undefined) return ignored("unsupported_action")
      const body = text(child(payload, "comment"), "body", limits.description) ?? ""
      if (isOwnComment(body)) return ignored("own_event")
      const command = findCommand(body)
      if (command === undefined) return ignored("unsupported_action")
      return {
        _tag: "Commanded",
        ...facts(),
        command,
        number: requireNumber(target, "number", "issue.number"),
        baseRef: toBaseRef(target),
        title: text(target, "title", limits.title),
        url: webUrl(target, "html_url")
      }
    }
    case "issues": {
      if (action === undefined || !issueStarts.has(action)) return ignored("unsupported_action")
      const issue = child(payload, "issue")
      return {
        _tag: "IssueChanged",
        ...facts(),
        number: requireNumber(issue, "number", "issue.number"),
        title: text(issue, "title", limits.title),
        url: webUrl(issue, "html_url")
      }
    }
    default:
      return ignored("unsupported_event")
  }
}

const describe = (_event: string, payload: PayloadJson): RejectedFacts => ({
  action: optional(() => text(payload, "action", 100)),
  sender: optional(() => toPerson(child(payload, "sender"))),
  repo: optional(() => toRepo(payload)),
  subject: readGithubSubject(payload)
})

export const webhook: ForgeWebhook = {
  signs: "body",
  signature: (headers) => hexHmac(headers, signatures, "prefixed"),
  deliveryId: (headers) => deliveryIdIn(headers, ["x-github-delivery"]),
  parse: (headers, json) =>
    parseDelivery(json, eventNameIn(headers, ["x-github-event"]), "x-github-event", { read, describe })
}
