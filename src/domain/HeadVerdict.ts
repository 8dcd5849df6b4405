/**
 * The status of a commit, from the verdicts of all runs that reviewed it. Hosts keep a status by commit, while a verdict belongs to the
 * commit as the head of one pull request into one base branch. So the status is the worst of the last verdicts of each pull request and
 * base branch with this head: a review of one of them replaces its own verdict only. Closing a pull request removes no verdict, because
 * it can be reopened. Pure.
 */
import { Schema } from "effect"
import { TargetKey } from "./Keys.ts"
import { StatusState } from "./Publication.ts"
import type { Operation } from "./Publication.ts"
import { Reason } from "./Reason.ts"
import * as Field from "./Field.ts"
import { record } from "./Record.ts"
import type { RecordValues } from "./Record.ts"
import type { RunStatus } from "./Run.ts"

/** Verdict of a run about its head. A run that ended without a review and without a failure has none. */
export const RunVerdict = Schema.Struct({
  /** `pending` from the start of the review to its end. */
  state: StatusState,
  /** Description of the status. */
  description: Reason,
  /** True if the run sets the commit status (`review.status_check`). */
  isShown: Schema.Boolean,
  /** True if everything was read and no channel has a problem to publish, so that the change may be approved. */
  isClean: Schema.Boolean
})
export type RunVerdict = typeof RunVerdict.Type

/** The verdict of a run, with the pull request and the base branch that it belongs to. */
export const HeadVerdict = record({
  runId: Field.text,
  targetKey: Field.stored(TargetKey),
  /** Name of the trigger, which identifies the host. */
  trigger: Field.named("trigger_name", Field.text),
  number: Field.optional(Field.integer),
  baseRef: Field.optional(Field.text),
  verdict: Field.json(RunVerdict)
})
export type HeadVerdict = RecordValues<typeof HeadVerdict>

/** A pull request and a base branch, which a verdict belongs to. */
type VerdictKey = Pick<HeadVerdict, "targetKey" | "baseRef">

/** The run whose status is written. */
interface OwnRun extends VerdictKey {
  readonly runId: string
  /** False for a run that waits for its review, or ended before the review began, or because its pull request was closed. */
  readonly hasReview: boolean
}

type Status = Extract<Operation, { readonly _tag: "Status" }>

/** A status to write. */
export interface HeadStatus {
  readonly status: Status
  /** The verdict of another pull request or base branch that the status shows. */
  readonly heldBy: HeadVerdict | undefined
}

/** Descriptions of runs that ended without a review. */
export const endDescriptions = {
  failed: { _tag: "ReviewFailed" },
  cancelled: { _tag: "ReviewCancelled" },
  closed: { _tag: "ClosedUnreviewed" },
  unpublished: { _tag: "ReviewUnpublished" },
  expired: { _tag: "WaitedTooLong" },
  skipped: { _tag: "NotReviewed" },
  superseded: { _tag: "SupersededReview" }
} as const satisfies Readonly<Record<string, Reason>>

/** Description of the status of a commit whose pull request waits for a review into a base branch that the commit was never reviewed against. */
export const awaitsReview: Reason = { _tag: "WaitsForReview" }

export const pendingVerdict = (description: Reason): RunVerdict => ({
  state: "pending",
  description,
  isShown: true,
  isClean: false
})

type End = { readonly state: "neutral" | "failure"; readonly description: Reason }

/** Returns whether a run ended because its pull request was closed, or its merge group ended. */
export const isClosed = (reason: Reason | undefined): boolean =>
  reason?._tag === "PullRequestClosed" || reason?._tag === "MergeGroupEnded"

/**
 * Returns the status of a run that ended in this state without a review. A review that did not take place earns no success, and
 * closing a pull request is no failure: both are neutral.
 */
export const endStatus = (to: RunStatus, reason: Reason | undefined): End => {
  if (isClosed(reason)) return { state: "neutral", description: endDescriptions.closed }
  if (to === "cancelled") return { state: "failure", description: endDescriptions.cancelled }
  if (to !== "skipped") return { state: "failure", description: endDescriptions.failed }
  const isSuperseded = reason?._tag === "SupersededRun"
  return { state: "neutral", description: isSuperseded ? endDescriptions.superseded : endDescriptions.skipped }
}

/**
 * Returns the verdict of a run that ends in this state without a review. A failure blocks the head until a review of it ends. A skipped
 * run has no verdict, so that the one before it counts again; nor has one whose pull request was closed, or whose review had not begun.
 */
export const endVerdict = (
  begun: RunVerdict | undefined,
  to: RunStatus,
  reason: Reason | undefined
): RunVerdict | undefined => {
  const { description, state } = endStatus(to, reason)
  return begun === undefined || state === "neutral" ? undefined : { ...begun, state, description, isClean: false }
}

/** Returns the verdict of a run that waited for longer than its entry may wait. */
export const expiredVerdict = (pending: RunVerdict | undefined): RunVerdict | undefined =>
  pending && { ...pending, state: "failure", description: endDescriptions.expired, isClean: false }

/** Returns the verdict of a run that had none in time (`review.verdict_timeout`). That of its review takes its place. */
export const lateVerdict = (pending: RunVerdict, minutes: number): RunVerdict => ({
  ...pending,
  state: "failure",
  description: { _tag: "VerdictLate", minutes },
  isClean: false
})

/** Returns the verdict of a run whose review was stored, and then not published. */
export const unpublishedVerdict = (stored: RunVerdict | undefined): RunVerdict | undefined =>
  stored && { ...stored, state: "failure", description: endDescriptions.unpublished, isClean: false }

const rank: Readonly<Record<StatusState, number>> = { success: 0, neutral: 1, pending: 2, failure: 3 }

const isWorse = (one: StatusState, other: StatusState): boolean => rank[one] > rank[other]

const keyOf = ({ baseRef, targetKey }: VerdictKey): string => JSON.stringify([targetKey, baseRef ?? null])

/** Returns the last verdict of each pull request and base branch, by key. Ids of runs are ordered by time. */
const lastVerdicts = (verdicts: ReadonlyArray<HeadVerdict>): ReadonlyMap<string, HeadVerdict> => {
  const last = new Map<string, HeadVerdict>()
  for (const verdict of verdicts) {
    const earlier = last.get(keyOf(verdict))
    if (earlier === undefined || earlier.runId < verdict.runId) last.set(keyOf(verdict), verdict)
  }
  return last
}

/**
 * Returns whether a commit has verdicts of other pull requests or base branches, and none of this one: then its status must not stay green
 * until the review. `mayHaveNone`: a commit without any verdict counts too.
 */
export const isUnreviewed = (own: VerdictKey, verdicts: ReadonlyArray<VerdictKey>, mayHaveNone = false): boolean =>
  (mayHaveNone || verdicts.length > 0) && verdicts.every((verdict) => keyOf(verdict) !== keyOf(own))

/** Returns whether a status lets a commit be merged, or may. */
export const isGreen = (state: StatusState): boolean => state === "success" || state === "neutral"

/** The details of a status belong to its own verdict. */
const withoutDetails = ({ details: _details, ...status }: Status): Status => status

/** Returns the status of the pull request and base branch of a run alone. `planned`: the status that the run planned. */
const ownStatus = (own: OwnRun, planned: Status, recorded: HeadVerdict | undefined): Status => {
  if (recorded === undefined) return planned
  const { state, description } = recorded.verdict
  const recordedStatus = { ...withoutDetails(planned), state, description }
  if (recorded.runId > own.runId) return recordedStatus
  if (planned.state === "pending") return planned
  if (recorded.runId === own.runId) return isWorse(state, planned.state) ? recordedStatus : planned
  // The run has no verdict itself: the one before it counts again.
  return planned.state === "neutral" ? recordedStatus : planned
}

/** Returns the status to plan for writing one again, after its run may have ended. */
export const repeatedStatus = (planned: Status, verdict: RunVerdict | undefined, hasEnded: boolean): Status => {
  if (planned.state !== "pending" || !hasEnded) return planned
  const { state, description } = verdict ?? { state: "neutral" as const, description: endDescriptions.skipped }
  return { ...withoutDetails(planned), state, description }
}

/** Returns the description of a verdict of another pull request or base branch. */
export const describeHeld = ({ baseRef, number, verdict }: HeadVerdict, sign: "#" | "!"): Reason => {
  const held = { why: verdict.description, branch: baseRef }
  return number === undefined
    ? { _tag: "HeldElsewhere", ...held }
    : { _tag: "HeldIn", ...held, change: `${sign}${number}` }
}

/**
 * Returns the status to write for a head: the worst of what the run planned, or what is recorded for its pull request and base branch
 * since then, and the verdicts of the others. `sign` precedes numbers of pull requests at the host.
 */
export const headStatus = (
  own: OwnRun,
  planned: Status,
  verdicts: ReadonlyArray<HeadVerdict>,
  sign: "#" | "!"
): HeadStatus => {
  const last = lastVerdicts(verdicts.filter(({ verdict }) => verdict.isShown))
  const recorded = last.get(keyOf(own))
  const ownShown = ownStatus(own, planned, recorded)
  const other = worstVerdict(verdicts.filter((verdict) => keyOf(verdict) !== keyOf(own)))
  // A review that did not take place takes nothing from the others.
  const isNone = !own.hasReview && recorded === undefined
  if (other === undefined || !(isNone || isWorse(other.verdict.state, ownShown.state)))
    return { status: ownShown, heldBy: undefined }
  const held = { state: other.verdict.state, description: describeHeld(other, sign) }
  return { status: { ...withoutDetails(planned), ...held }, heldBy: other }
}

/** Returns the verdict that the status of a head shows. */
export const worstVerdict = (verdicts: ReadonlyArray<HeadVerdict>): HeadVerdict | undefined => {
  let worst: HeadVerdict | undefined
  for (const verdict of lastVerdicts(verdicts.filter(({ verdict: { isShown } }) => isShown)).values())
    if (worst === undefined || isWorse(verdict.verdict.state, worst.verdict.state)) worst = verdict
  return worst
}

/** Returns a verdict of another pull request or base branch for which the change of this run is not approved. Running reviews have none. */
export const findObjection = (own: VerdictKey, verdicts: ReadonlyArray<HeadVerdict>): HeadVerdict | undefined =>
  [...lastVerdicts(verdicts.filter(({ verdict }) => verdict.state !== "pending"))]
    .filter(([key]) => key !== keyOf(own))
    .map(([, other]) => other)
    .find(({ verdict }) => !verdict.isClean)
