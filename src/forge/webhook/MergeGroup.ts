/** Reads the group of pull requests that a delivery of a merge queue is about. */
import type { MergeGroupFacts } from "../../domain/HostEvent.ts"
import { branch, child, commit, limits, optional, requireValue, text } from "./Payload.ts"
import type { PayloadJson } from "./Payload.ts"

const heads = "refs/heads/"
/** GitHub lets no account push to branches with this prefix, which the branch to merge into follows. */
const prefix = "gh-readonly-queue/"
const lastPull = /^pr-(\d{1,9})-/
/** The branch of a group after the prefix: the branch to merge into, the last pull request, and the commit that it was merged with. */
const queued = /^(.+)\/pr-\d{1,9}-([0-9a-f]{40})$/

const readBranch = (group: PayloadJson | undefined, key: string): string | undefined => {
  const ref = optional(() => text(group, key, limits.name + heads.length + 1))
  return ref?.startsWith(heads) === true ? optional(() => branch(ref.slice(heads.length), key)) : undefined
}

/** Returns the prefix of the branches of groups that are merged into a branch. */
export const queuePrefix = (baseRef: string): string => `${prefix}${baseRef}/`

/** Returns the last pull request in the name of a branch after the prefix. */
export const readLastPull = (name: string): number | undefined => {
  const number = Number(lastPull.exec(name)?.[1] ?? 0)
  return number === 0 ? undefined : number
}

const toFacts = (name: string, baseRef: string): MergeGroupFacts | undefined => {
  const queue = queuePrefix(baseRef)
  if (!name.startsWith(queue)) return undefined
  return { branch: name, baseRef, number: readLastPull(name.slice(queue.length)) }
}

/** Returns undefined for a branch that is not of a merge queue into the named branch. */
export const readMergeGroup = (group: PayloadJson | undefined): MergeGroupFacts | undefined => {
  const [name, baseRef] = [readBranch(group, "head_ref"), readBranch(group, "base_ref")]
  return name === undefined || baseRef === undefined ? undefined : toFacts(name, baseRef)
}

/**
 * Reads the group whose check a delivery is about. It names only the branch of the commit, which names the others. Undefined for a check of other
 * commits.
 */
export const readCheckedGroup = (payload: PayloadJson) => {
  const check = child(payload, "check_run") ?? child(payload, "check_suite")
  const suite = child(check, "check_suite") ?? check
  const name = optional(() => branch(text(suite, "head_branch", limits.name), "head_branch"))
  const head = optional(() => commit(check, "head_sha", "head_sha"))
  const [, baseRef, base] = queued.exec(name?.startsWith(prefix) === true ? name.slice(prefix.length) : "") ?? []
  const into = optional(() => branch(baseRef, "head_branch"))
  const group = name === undefined || into === undefined ? undefined : toFacts(name, into)
  return group === undefined || head === undefined || base === undefined ? undefined : { group, head, base }
}

const readCommit = (group: PayloadJson | undefined, key: string): string =>
  requireValue(commit(group, key, `merge_group.${key}`), `merge_group.${key}`, "a commit id")

/** Reads the commit of a group, and the one that it was merged with. */
export const readGroupCommits = (group: PayloadJson | undefined) => ({
  head: readCommit(group, "head_sha"),
  base: readCommit(group, "base_sha")
})
