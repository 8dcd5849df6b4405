/** Finds the pull requests of a merge group among the commits between the one that it was merged with and its own. Pure. */
import { Schema } from "effect"

/** A pull request of a merge group. `head`: the commit that was merged, where the group has a merge of it. */
export const GroupMember = Schema.Struct({
  number: Schema.Int,
  head: Schema.optional(Schema.String)
})
export type GroupMember = typeof GroupMember.Type

/** A commit of the branch of a group. */
export interface QueuedCommit {
  readonly id: string
  readonly parents: ReadonlyArray<string>
  /** First line of its message. */
  readonly title: string
}

interface Group {
  readonly head: string
  readonly base: string
  /** Number of its last pull request. */
  readonly number: number | undefined
}

/** Maximum number of pull requests of a group that are distinguished. */
const maxMembers = 50

const merged = /^Merge pull request #(\d{1,9})(?!\d)/
const squashed = / \(#(\d{1,9})\)$/

const toNumber = (text: string | undefined): number | undefined =>
  text === undefined || Number(text) === 0 ? undefined : Number(text)

/** Returns the commits from the first one on the base to the head; undefined if `commits` does not reach the base. */
const findChain = (commits: ReadonlyArray<QueuedCommit>, { base, head }: Group) => {
  const byId = new Map(commits.map((commit) => [commit.id, commit]))
  const chain: Array<QueuedCommit> = []
  for (let id: string | undefined = head; id !== base;) {
    const commit: QueuedCommit | undefined = id === undefined ? undefined : byId.get(id)
    if (commit === undefined || chain.length > commits.length) return undefined
    chain.push(commit)
    id = commit.parents[0]
  }
  return chain.toReversed()
}

/**
 * Returns the pull requests in the order of merging: a merge or a squashed commit names its own, and the branch of the group the last one.
 * `tips` are numbers of pull requests by the tips of other branches of the queue: a rebased pull request ends at its tip. Undefined while a
 * commit belongs to none of them, or the commits do not reach the base.
 */
export const findMembers = (
  commits: ReadonlyArray<QueuedCommit>,
  group: Group,
  tips: ReadonlyMap<string, number> = new Map()
): ReadonlyArray<GroupMember> | undefined => {
  const chain = findChain(commits, group)
  if (chain === undefined) return undefined
  const members = new Map<number, GroupMember>()
  let isOpen = false
  for (const { id, parents, title } of chain) {
    const [, second, ...others] = parents
    const head = others.length === 0 ? second : undefined
    const named = head === undefined ? squashed.exec(title)?.[1] : merged.exec(title)?.[1]
    const number = id === group.head ? group.number : (tips.get(id) ?? toNumber(named))
    isOpen = number === undefined
    if (number !== undefined) members.set(number, head === undefined ? { number } : { number, head })
  }
  return isOpen || members.size === 0 || members.size > maxMembers ? undefined : [...members.values()]
}

/** Returns whether some commits before the head name no pull request: rebased ones, which only the tips of the queue tell apart. */
export const hasRebased = (commits: ReadonlyArray<QueuedCommit>, group: Group): boolean =>
  findChain(commits, group)?.some(
    ({ id, parents, title }) => id !== group.head && parents.length === 1 && !squashed.test(title)
  ) === true
