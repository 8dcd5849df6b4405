/** Reads the group of pull requests that a delivery of a merge queue is about. */
import type { MergeGroupFacts } from "../../domain/HostEvent.ts"
import { branch, commit, limits, optional, requireValue, text } from "./Payload.ts"
import type { PayloadJson } from "./Payload.ts"

const heads = "refs/heads/"
/** GitHub lets no account push to branches with this prefix, which the branch to merge into follows. */
const prefix = "gh-readonly-queue/"
const lastPull = /^pr-(\d{1,9})-/

const readBranch = (group: PayloadJson | undefined, key: string): string | undefined => {
  const ref = optional(() => text(group, key, limits.name + heads.length + 1))
  return ref?.startsWith(heads) === true ? optional(() => branch(ref.slice(heads.length), key)) : undefined
}

/** Returns undefined for a branch that is not of a merge queue into the named branch. */
export const readMergeGroup = (group: PayloadJson | undefined): MergeGroupFacts | undefined => {
  const [name, baseRef] = [readBranch(group, "head_ref"), readBranch(group, "base_ref")]
  const queue = `${prefix}${baseRef}/`
  if (name === undefined || baseRef === undefined || !name.startsWith(queue)) return undefined
  const [, number] = lastPull.exec(name.slice(queue.length)) ?? []
  return { branch: name, baseRef, number: number === undefined || Number(number) === 0 ? undefined : Number(number) }
}

const readCommit = (group: PayloadJson | undefined, key: string): string =>
  requireValue(commit(group, key, `merge_group.${key}`), `merge_group.${key}`, "a commit id")

/** Reads the commit of a group, and the one that it was merged with. */
export const readGroupCommits = (group: PayloadJson | undefined) => ({
  head: readCommit(group, "head_sha"),
  base: readCommit(group, "base_sha")
})
