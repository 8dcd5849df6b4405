/**
 * Reads what a delivery is about: the pull request, issue or branch that its record is found by. GitHub, Gitea and Forgejo share the form of
 * their payloads. Every value may be missing, and an invalid one is.
 */
import { noSubject } from "../../domain/HostEvent.ts"
import type { DeliverySubject, MergeGroupFacts } from "../../domain/HostEvent.ts"
import { readCheckedGroup, readMergeGroup } from "./MergeGroup.ts"
import { branch, child, children, commit, flag, integer, isZero, limits, optional, text } from "./Payload.ts"
import type { PayloadJson } from "./Payload.ts"

export const readSubjectNumber = (parent: PayloadJson | undefined, key: string): number | undefined => {
  const value = integer(parent, key)
  return value !== undefined && value > 0 ? value : undefined
}

export const readSubjectHead = (parent: PayloadJson | undefined, key: string): string | undefined => {
  const id = optional(() => commit(parent, key, key))
  return id === undefined || isZero(id) ? undefined : id
}

export const readSubjectBranch = (parent: PayloadJson | undefined, key: string): string | undefined =>
  optional(() => branch(text(parent, key, limits.name + 1), key))

export const readSubjectName = (parent: PayloadJson | undefined, key: string): string | undefined =>
  optional(() => text(parent, key))

/** Returns the subject of a push, by its full ref. */
export const readPushedSubject = (payload: PayloadJson): DeliverySubject => {
  const ref = optional(() => text(payload, "ref", 512))
  if (ref === undefined || !ref.startsWith("refs/heads/")) return noSubject
  const name = ref.slice("refs/heads/".length)
  return {
    ...noSubject,
    kind: "push",
    head: readSubjectHead(payload, "after"),
    branch: optional(() => branch(name, "ref"))
  }
}

/**
 * Returns who is known to have pushed the head. Other actions have the same head and come from any account, for example from the person who
 * adds a label.
 */
export const readPusher = (
  delivery: { readonly pushes: boolean; readonly opens: boolean },
  sender: string | undefined,
  author: string | undefined
): string | undefined => (delivery.pushes || (delivery.opens && sender === author) ? sender : undefined)

const toGroupSubject = (group: MergeGroupFacts | undefined, head: string | undefined): DeliverySubject =>
  group === undefined
    ? { ...noSubject, head }
    : { ...noSubject, kind: "merge_group", number: group.number, head, branch: group.baseRef }

/** Returns the subject of a payload of GitHub, Gitea or Forgejo. */
export const readGithubSubject = (payload: PayloadJson): DeliverySubject => {
  const merged = child(payload, "merge_group")
  if (merged !== undefined) return toGroupSubject(readMergeGroup(merged), readSubjectHead(merged, "head_sha"))
  const group = readCheckedGroup(payload)
  if (group !== undefined) return toGroupSubject(group.group, group.head)
  const pull = child(payload, "pull_request")
  const issue = child(payload, "issue")
  const check = child(payload, "check_run") ?? child(payload, "check_suite") ?? child(payload, "workflow_run")
  const checked = children(check, "pull_requests")[0]
  const about = pull ?? issue ?? checked
  const commented = about === undefined ? readSubjectHead(child(payload, "comment"), "commit_id") : undefined
  if (commented !== undefined) return { ...noSubject, head: commented }
  if (about === undefined && check === undefined) return readPushedSubject(payload)
  const onPull =
    (pull ?? checked) !== undefined || child(issue, "pull_request") !== undefined || flag(payload, "is_pull")
  const action = pull === undefined ? undefined : optional(() => text(payload, "action", 100))
  const author = readLogin(child(about, "user"))
  return {
    kind: onPull ? "pull_request" : issue === undefined ? undefined : "issue",
    // Some servers send the number only next to the pull request.
    number:
      readSubjectNumber(about, "number") ?? (pull === undefined ? undefined : readSubjectNumber(payload, "number")),
    head: readSubjectHead(child(pull ?? checked, "head"), "sha") ?? readSubjectHead(check, "head_sha"),
    branch: readSubjectBranch(child(pull ?? checked, "base"), "ref"),
    author,
    pusher: readPusher(
      { pushes: action === "synchronize" || action === "synchronized", opens: action === "opened" },
      readLogin(child(payload, "sender")),
      author
    ),
    title: readSubjectName(about, "title")
  }
}

const readLogin = (user: PayloadJson | undefined): string | undefined =>
  readSubjectName(user, "login") ?? readSubjectName(user, "username")
