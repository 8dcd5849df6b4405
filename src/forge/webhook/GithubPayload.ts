/** Parts of a delivery that GitHub, Gitea and Forgejo write in the same form. */
import type { Person, Repo } from "../../domain/Change.ts"
import { isOwnComment } from "../../domain/CommentCommand.ts"
import type { PullRequestFacts } from "../../domain/HostEvent.ts"
import { readGithubSubject } from "./DeliverySubject.ts"
import type { RejectedFacts } from "../Forge.ts"
import {
  branch,
  child,
  children,
  commit,
  fullName,
  integer,
  isZero,
  limits,
  listedCommits,
  optional,
  repo,
  requireNumber,
  requireValue,
  text,
  webUrl
} from "./Payload.ts"
import type { PayloadJson } from "./Payload.ts"

type ReadPerson = (user: PayloadJson | undefined) => Person | undefined

export const readRepo = (payload: PayloadJson): Repo | undefined => {
  const source = child(payload, "repository")
  if (source === undefined) return undefined
  return repo({
    fullName: fullName(text(source, "full_name", 512), "repository.full_name"),
    cloneUrl: webUrl(source, "clone_url"),
    webUrl: webUrl(source, "html_url"),
    hostId: integer(source, "id")
  })
}

export const readBaseRef = (pull: PayloadJson | undefined): string | undefined =>
  branch(text(child(pull, "base"), "ref", limits.name + 1), "pull_request.base.ref")

/** Reads a pull request; the host determines its number, author and draft state. */
export const readPull = (
  pull: PayloadJson,
  own: Pick<PullRequestFacts, "number" | "draft">,
  toPerson: ReadPerson
): PullRequestFacts => {
  const head = child(pull, "head")
  return {
    number: own.number,
    head: requireValue(commit(head, "sha", "pull_request.head.sha"), "pull_request.head.sha", "a commit id"),
    base: commit(child(pull, "base"), "sha", "pull_request.base.sha"),
    headRef: branch(text(head, "ref", limits.name + 1), "pull_request.head.ref"),
    baseRef: readBaseRef(pull),
    title: text(pull, "title", limits.title),
    description: text(pull, "body", limits.description),
    url: webUrl(pull, "html_url"),
    author: toPerson(child(pull, "user")),
    draft: own.draft,
    labels: children(pull, "labels")
      .slice(0, limits.labels)
      .flatMap((label) => text(label, "name") ?? [])
  }
}

/** Reads a push; undefined if it is not about a branch, or deletes the branch. */
export const readPush = (payload: PayloadJson) => {
  const ref = requireValue(text(payload, "ref", 512), "ref", "a string")
  const after = requireValue(commit(payload, "after", "after"), "after", "a commit id")
  const before = requireValue(commit(payload, "before", "before"), "before", "a commit id")
  if (!ref.startsWith("refs/heads/") || isZero(after)) return undefined
  return {
    branch: requireValue(branch(ref.slice("refs/heads/".length), "ref"), "ref", "a branch"),
    before,
    after,
    created: isZero(before),
    commits: children(payload, "commits").length,
    listed: listedCommits(payload)
  }
}

const repositoryActions = new Set(["created", "deleted", "archived", "unarchived", "renamed", "transferred"])

/** Returns whether an event about a repository changes which repositories there are, or their names. */
export const changesRepositories = (action: string | undefined): boolean =>
  action !== undefined && repositoryActions.has(action)

/** Reads number, title and page of an issue, or of a pull request that a comment belongs to. */
export const readIssue = (issue: PayloadJson | undefined) => ({
  number: requireNumber(issue, "number", "issue.number"),
  title: text(issue, "title", limits.title),
  url: webUrl(issue, "html_url")
})

/** Returns whether the service opened the issue. */
export const isOwnIssue = (issue: PayloadJson | undefined): boolean =>
  isOwnComment(optional(() => text(issue, "body", limits.description)) ?? "")

/** Reads the text of a comment before it was edited. */
export const readTextBefore = (payload: PayloadJson): string | undefined =>
  optional(() => text(child(child(payload, "changes"), "body"), "from", limits.description))

/** Reads the facts of a delivery whose payload is rejected. */
export const readRejected =
  (toPerson: ReadPerson) =>
  (_event: string, payload: PayloadJson): RejectedFacts => ({
    action: optional(() => text(payload, "action", 100)),
    sender: optional(() => toPerson(child(payload, "sender"))),
    repo: optional(() => readRepo(payload)),
    subject: readGithubSubject(payload)
  })
