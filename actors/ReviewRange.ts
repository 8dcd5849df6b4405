/**
 * From where to where a review goes that is not of a pull request. What the delivery did not say is asked of the host when the
 * review runs, so that the newest state counts.
 *
 * | target    | head                                | base                                                                  |
 * |-----------|-------------------------------------|-----------------------------------------------------------------------|
 * | push      | its newest commit                   | where the branch stood before; a new branch: the default branch       |
 * | manual    | as asked, or the tip of its branch  | as asked, or the tip of that branch; not asked: the default branch    |
 * | scheduled | the tip of the branch               | head of the last run (at first: where the branch stood at the time before the one it fired for), or the state of so many days ago |
 *
 * With a branch as base (`baseRef`) the review is of what the head adds to it, else of all that differs between the two.
 */
import { Duration, Effect } from "effect"
import { rangeStart } from "../src/admission/CronTimes.ts"
import type { Snapshot } from "../src/config/Snapshot.ts"
import type { ScheduledRepository, Trigger } from "../src/config/schema/Triggers.ts"
import { foldRepo } from "../src/domain/Change.ts"
import type { Change } from "../src/domain/Change.ts"
import type { Entry } from "../src/domain/Entry.ts"
import type { ForgeClient, ForgeError } from "../src/forge/Forge.ts"
import { Runs } from "../src/store/Runs.ts"
import type { StoreError } from "../src/database/StoreError.ts"

export interface Range {
  readonly head: string
  readonly base: string
  /** The branch that `base` is the tip of. */
  readonly baseRef: string | undefined
}

/** What git calls the tip of the default branch. */
const defaultBranch = "HEAD"
/** A branch without any commit that old has no "before": its newest commit is what is looked at. */
const noBefore = "0".repeat(40)

type Asked<A> = Effect.Effect<A, ForgeError>

/** A text says why there is nothing to review. */
export const rangeOf = Effect.fnUntraced(function* (
  entry: Entry,
  snapshot: Snapshot,
  client: ForgeClient
): Effect.fn.Return<Range | string, ForgeError | StoreError, Runs> {
  const { change } = entry
  switch (change.target.kind) {
    case "push":
    case "manual": {
      const head = yield* headOf(change, client)
      if (head === undefined) return `branch ${change.headRef ?? ""} has no commits`
      return yield* against(change, head, client)
    }
    case "scheduled":
      return yield* sinceThen(entry, snapshot, client)
    default:
      return "the delivery names no commits"
  }
})

const headOf = ({ head, headRef, repo }: Change, client: ForgeClient): Asked<string | undefined> =>
  head !== undefined || headRef === undefined ? Effect.succeed(head) : client.newestCommit(repo, { branch: headRef })

const against = Effect.fnUntraced(function* (
  { base, baseRef, repo }: Change,
  head: string,
  client: ForgeClient
): Effect.fn.Return<Range | string, ForgeError> {
  if (base !== undefined) return { head, base, baseRef }
  const tip = yield* client.newestCommit(repo, { branch: baseRef })
  if (tip === undefined) return `${baseRef === undefined ? "the default branch" : `branch ${baseRef}`} has no commits`
  return { head, base: tip, baseRef: baseRef ?? defaultBranch }
})

const sinceThen = Effect.fnUntraced(function* (
  { admittedAt, change, targetKey }: Entry,
  snapshot: Snapshot,
  client: ForgeClient
): Effect.fn.Return<Range | string, ForgeError | StoreError, Runs> {
  const trigger = snapshot.triggers.get(change.trigger)?.settings
  const scheduled = trigger?.repositories?.find((one) => isOf(one, change))
  if (trigger === undefined || scheduled === undefined) return `trigger ${change.trigger} no longer has this repository`
  const { branch } = change.target
  const head = yield* client.newestCommit(change.repo, { branch })
  if (head === undefined) return `branch ${branch ?? "by default"} has no commits`
  const [last] =
    scheduled.range === "last_run" ? yield* (yield* Runs).list({ targetKey, status: "succeeded", limit: 1 }) : []
  const base =
    last?.head ?? (yield* client.newestCommit(change.repo, { branch, until: startOf(trigger, scheduled, admittedAt) }))
  if (base === head) return "nothing is new since then"
  return { head, base: base ?? noBefore, baseRef: undefined }
})

const isOf = ({ repo, branch }: ScheduledRepository, { repo: { fullName }, target }: Change): boolean =>
  foldRepo(repo) === foldRepo(fullName) && branch === target.branch

const startOf = (trigger: Trigger, { range }: ScheduledRepository, admittedAt: number): number =>
  range === "last_run"
    ? (rangeStart(trigger, admittedAt) ?? admittedAt)
    : admittedAt - Duration.toMillis(Duration.days(range.days))
