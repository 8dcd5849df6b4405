/**
 * Determines the commits that a review covers if it is not of a pull request. Values missing in the delivery are read from the host when
 * the review starts, so that the newest state counts.
 *
 * | target    | head                               | base                                                                      |
 * |-----------|------------------------------------|---------------------------------------------------------------------------|
 * | push      | newest commit of the push          | previous tip of the branch; for a new branch the default branch           |
 * | manual    | as requested, or tip of the branch | as requested, or tip of the requested branch; default: the default branch |
 * | scheduled | tip of the branch                  | head of the last run, or the commit of a number of days ago; for the first run the tip at the previous scheduled time |
 * | merge group | its commit, while its branch has it | the commit that its pull requests were merged with |
 *
 * With a branch as base (`baseRef`) the review covers what the head adds to it, otherwise all differences between the two.
 */
import { Duration, Effect } from "effect"
import { rangeStart } from "../../src/admission/CronTimes.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import type { ScheduledRepository, Trigger } from "../../src/config/schema/Triggers.ts"
import { foldRepo, noCommit } from "../../src/domain/Change.ts"
import type { Change } from "../../src/domain/Change.ts"
import { findMembers, hasRebased } from "../../src/domain/GroupMembers.ts"
import type { GroupMember } from "../../src/domain/GroupMembers.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { Runs } from "../../src/store/Runs.ts"
import type { StoreError } from "../../src/database/StoreError.ts"

export interface Range {
  readonly head: string
  readonly base: string
  /** The branch that `base` is the tip of. */
  readonly baseRef: string | undefined
  /** Pull requests of a merge group. */
  readonly members?: ReadonlyArray<GroupMember>
}

/** Name of the tip of the default branch in git. */
const defaultBranch = "HEAD"
type Reading<A> = Effect.Effect<A, ForgeError>

/** Returns the reason if there is nothing to review. */
export const resolveRange = Effect.fnUntraced(function* (
  entry: Entry,
  snapshot: Snapshot,
  client: ForgeClient
): Effect.fn.Return<Range | Reason, ForgeError | StoreError, Runs> {
  const { change } = entry
  switch (change.target.kind) {
    case "push":
    case "manual": {
      const head = yield* headOf(change, client)
      if (head === undefined) return noCommits(change.headRef)
      return yield* against(change, head, client)
    }
    case "merge_group":
      return yield* rangeOfGroup(change, client)
    case "scheduled": {
      const { base, head } = change
      // An administrator repeats a run.
      return head !== undefined && base !== undefined
        ? { head, base, baseRef: undefined }
        : yield* sinceThen(entry, snapshot, client)
    }
    default:
      return { _tag: "NoCommits" }
  }
})

/**
 * Returns the range of a merge group with its pull requests, if the commits name them. Only the host writes to the branch of a group, so that
 * it shows that there is one.
 */
const rangeOfGroup = Effect.fnUntraced(function* (
  { base, baseRef, head, headRef, repo, target }: Change,
  { mergeQueue }: ForgeClient
): Effect.fn.Return<Range | Reason, ForgeError> {
  const commits =
    mergeQueue === undefined || headRef === undefined
      ? []
      : yield* Effect.catchIf(
          mergeQueue.commits(repo, headRef),
          ({ reason }) => reason === "not_found",
          () => Effect.succeed([])
        )
  if (head === undefined || commits[0]?.id !== head) return { _tag: "MergeGroupEnded" }
  if (base === undefined) return { _tag: "NoCommits" }
  const group = { head, base, number: target.number }
  const isRebased = baseRef !== undefined && mergeQueue !== undefined && hasRebased(commits, group)
  const tips = isRebased ? yield* mergeQueue.tips(repo, baseRef) : undefined
  const members = findMembers(commits, group, tips)
  return { head, base, baseRef, ...(members === undefined ? {} : { members }) }
})

/** Returns the reason for a branch without a commit; undefined is the default branch. */
const noCommits = (branch: string | undefined): Reason =>
  branch === undefined ? { _tag: "DefaultBranchEmpty" } : { _tag: "BranchEmpty", branch }

const headOf = ({ head, headRef, repo }: Change, client: ForgeClient): Reading<string | undefined> =>
  head !== undefined || headRef === undefined ? Effect.succeed(head) : client.newestCommit(repo, { branch: headRef })

const against = Effect.fnUntraced(function* (
  { base, baseRef, repo }: Change,
  head: string,
  client: ForgeClient
): Effect.fn.Return<Range | Reason, ForgeError> {
  if (base !== undefined) return { head, base, baseRef }
  const tip = yield* client.newestCommit(repo, { branch: baseRef })
  if (tip === undefined) return noCommits(baseRef)
  return { head, base: tip, baseRef: baseRef ?? defaultBranch }
})

const sinceThen = Effect.fnUntraced(function* (
  { admittedAt, change, targetKey }: Entry,
  snapshot: Snapshot,
  client: ForgeClient
): Effect.fn.Return<Range | Reason, ForgeError | StoreError, Runs> {
  const trigger = snapshot.triggers.get(change.trigger)?.settings
  const scheduled = trigger?.repositories?.find((one) => isOf(one, change))
  if (trigger === undefined || scheduled === undefined)
    return { _tag: "RepositoryUnscheduled", trigger: change.trigger }
  const { branch } = change.target
  const head = yield* client.newestCommit(change.repo, { branch })
  if (head === undefined) return noCommits(branch)
  const [last] =
    scheduled.range === "last_run" ? yield* (yield* Runs).list({ targetKey, statuses: ["succeeded"], limit: 1 }) : []
  const base =
    last?.head ?? (yield* client.newestCommit(change.repo, { branch, until: startOf(trigger, scheduled, admittedAt) }))
  if (base === head) return { _tag: "NoNewCommits" }
  // Of a branch without a commit of that age the newest commit is reviewed.
  return { head, base: base ?? noCommit, baseRef: undefined }
})

const isOf = ({ repo, branch }: ScheduledRepository, { repo: { fullName }, target }: Change): boolean =>
  foldRepo(repo) === foldRepo(fullName) && branch === target.branch

const startOf = (trigger: Trigger, { range }: ScheduledRepository, admittedAt: number): number =>
  range === "last_run"
    ? (rangeStart(trigger, admittedAt) ?? admittedAt)
    : admittedAt - Duration.toMillis(Duration.days(range.days))
