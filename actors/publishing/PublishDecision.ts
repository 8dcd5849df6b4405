/** Decides what the publisher does with a row and with a run, from the records and the host's response. Pure. */
import { Duration } from "effect"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { maxConflicts } from "../../src/domain/Publication.ts"
import type { Operation, Publication } from "../../src/domain/Publication.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import type { ChannelMissing } from "../../src/outputs/Outputs.ts"
import { backoffMillis } from "../../src/domain/Backoff.ts"
import type { PublicationUpdate } from "../../src/store/Outbox.ts"
import type { Run } from "../../src/store/Runs.ts"

/** State of the change at the host right before a write. */
export type HeadCheck = "newest" | "closed" | { readonly _tag: "Moved"; readonly head: string }

type PublishStep =
  | { readonly _tag: "Drop"; readonly reason: Reason }
  /** The publisher that was sending the row did not record the outcome. */
  | { readonly _tag: "MarkUnknown" }
  | { readonly _tag: "LookUp" }
  | { readonly _tag: "Wait"; readonly millis: number }
  | { readonly _tag: "Send" }

/** Attempts of a write, with growing pauses, before it is given up (about four hours). */
export const maxAttempts = 30
const backoff = { kind: "exponential", base_ms: 1000, max_ms: Duration.toMillis("10 minutes"), jitter: true } as const

const pauseMillis = (attempt: number, random: number): number => backoffMillis(backoff, attempt, random)

/**
 * Whether the configuration of a run has its workspace. `unknown`: this node cannot read that configuration, and its own has no such
 * workspace, or it lacks the token of the trigger.
 */
export type Configured = "yes" | "no" | "unknown"

/** Age up to which failures before a write cost no attempt, and up to which an unknown configuration is waited for. */
const maxDeferral = Duration.toMillis("24 hours")
/** Pause until a publication whose configuration is unknown on this node is tried again, there or on another node. */
const unknownPause = Duration.toMillis("15 seconds")

/** Returns the next step for an open row of a target while nothing is being sent to it. */
export const nextStep = (
  run: Pick<Run, "workspace" | "createdAt"> | undefined,
  configured: Configured,
  { status, notBefore }: Pick<Publication, "status" | "notBefore">,
  now: number
): PublishStep => {
  if (status === "sending") return { _tag: "MarkUnknown" }
  if (run === undefined) return { _tag: "Drop", reason: { _tag: "RunNotOnRecord" } }
  if (configured === "unknown" && now - run.createdAt < maxDeferral) return { _tag: "Wait", millis: unknownPause }
  if (configured !== "yes") return { _tag: "Drop", reason: { _tag: "WorkspaceUnconfigured", workspace: run.workspace } }
  if (notBefore !== undefined && notBefore > now) return { _tag: "Wait", millis: notBefore - now }
  return status === "unknown" ? { _tag: "LookUp" } : { _tag: "Send" }
}

/**
 * Returns the open rows of a target in the order of their next steps: first those that an earlier publisher left in `sending`. They refuse
 * every other status of their commit, also one of this target that was planned before them.
 */
export const sendingFirst = (rows: ReadonlyArray<Publication>): ReadonlyArray<Publication> =>
  rows.toSorted((one, other) => Number(other.status === "sending") - Number(one.status === "sending"))

/** Maps the head check for a row: a closed change still gets its summary and its chat messages, and maintainers what is for them. */
export const checkFor = (
  { operation }: Pick<Publication, "operation">,
  check: HeadCheck,
  isPrivate: boolean = false
): HeadCheck =>
  check === "closed" && (isPrivate || operation._tag === "Summary" || operation._tag === "Chat") ? "newest" : check

/** A host refuses what may succeed a moment later, such as a write to what it is still updating. The other conflicts are the service's own. */
export const isPassingConflict = ({ reason, status, why }: ForgeError): boolean =>
  reason === "conflict" && (status !== undefined || why._tag === "NoVersionOfHead")

const isFinal = (error: ForgeError): boolean =>
  error.reason === "unauthorized" ||
  error.reason === "forbidden" ||
  error.reason === "not_found" ||
  (error.reason === "conflict" && !isPassingConflict(error)) ||
  error.reason === "invalid"

export interface SendFailure {
  readonly error: ForgeError | ChannelMissing
  /** True if a write may have reached the host. */
  readonly isBegun: boolean
  /** Status of the row before it was sent. A row with an unknown outcome is looked up again before it is written. */
  readonly from: "pending" | "unknown"
  readonly attempts: number
  /** Consecutive failures of this target before a write, including this one. */
  readonly deferrals: number
  /** Age of the run in milliseconds. */
  readonly ageMillis: number
  /** True for the status of a run that has ended: nothing else of the run waits for it. */
  readonly isLastStatus?: boolean | undefined
  /** True for what only maintainers get: everything else of the run waits for it, so that a refusal is repeated. */
  readonly isPrivate?: boolean | undefined
}

/** Age of a run up to which its publications wait for a credential, and that up to which the last word about a commit does. */
const maxCredentialWait = maxDeferral
const maxStatusWait = Duration.toMillis("7 days")

/** Waits for a credential that the host refuses for everything. */
const awaitCredential = (
  { ageMillis, deferrals, error, from, isBegun, isLastStatus }: SendFailure & { readonly error: ForgeError },
  trigger: string,
  now: number,
  random: number
): PublicationUpdate => {
  const { why } = error
  const limit = isLastStatus === true ? maxStatusWait : maxCredentialWait
  if (ageMillis > limit) {
    const hours = Math.round(limit / Duration.toMillis("1 hour"))
    return { status: "failed", error: { _tag: "CredentialNotRestored", trigger, hours, why } }
  }
  return {
    status: isBegun ? "unknown" : from,
    error: { _tag: "AwaitsCredential", trigger, why },
    notBefore: now + pauseMillis(deferrals, random)
  }
}

/** Age of a run up to which its review waits for a person who has an unpublished review under the same account. */
const maxPendingWait = Duration.toMillis("1 hour")

/** Minimum pause in milliseconds during an outage of the host. The client waits for the host itself; this spaces calls that do not wait. */
const outagePause = 1000

/**
 * Returns the update of a row that could not be sent. Failed reads before a write and outages of the whole host cost no attempt. `random`
 * is in [0, 1).
 */
export const afterFailure = (failure: SendFailure, now: number, random: number): PublicationUpdate => {
  const { error, isBegun, from, attempts, deferrals, ageMillis, isPrivate } = failure
  const { why } = error
  if (error._tag === "ForgeError" && error.lostCredential !== undefined)
    return awaitCredential({ ...failure, error }, error.lostCredential, now, random)
  if (error._tag === "ChannelMissing" || (isPrivate !== true && isFinal(error))) return { status: "failed", error: why }
  if (error.reason === "conflict" || isFinal(error)) {
    if (attempts + 1 >= maxConflicts) return { status: "failed", error: why }
    const notBefore = now + pauseMillis(attempts + 1, random)
    return { status: isBegun ? "pending" : from, error: why, notBefore, isAttempt: true }
  }
  const retryAfter = error.retryAfterMillis ?? 0
  if (error.isOutage === true) {
    return isBegun
      ? { status: "unknown", error: why }
      : { status: from, error: why, notBefore: now + Math.max(outagePause, retryAfter) }
  }
  if (error.reason === "pending_review") {
    // Nothing was written, so a row that was being sent is not doubtful.
    if (ageMillis > maxPendingWait || attempts + 1 >= maxAttempts) return { status: "failed", error: why }
    const notBefore = now + pauseMillis(attempts + 1, random)
    return { status: isBegun ? "pending" : from, error: why, notBefore, isAttempt: true }
  }
  const isAttempt = isBegun || ageMillis > maxDeferral
  if (isAttempt && attempts + 1 >= maxAttempts) return { status: "failed", error: why }
  if (!isBegun) {
    const notBefore = now + Math.max(pauseMillis(deferrals, random), retryAfter)
    return { status: from, error: why, notBefore, isAttempt }
  }
  // The first lookup is immediate: a write that reached the host needs no pause.
  const pause = error.reason === "unknown_outcome" && attempts === 0 ? 0 : pauseMillis(attempts + 1, random)
  return {
    status: error.reason === "unknown_outcome" ? "unknown" : "pending",
    error: why,
    notBefore: now + Math.max(pause, retryAfter),
    isAttempt
  }
}

const idempotent: ReadonlySet<Operation["_tag"]> = new Set(["Status", "Label", "Reaction", "Statement", "Withdraw"])

/** True for operations that people read. The others are idempotent, whatever an earlier review wrote. */
export const isContent = ({ operation }: Pick<Publication, "operation">): boolean => !idempotent.has(operation._tag)

/** Returns the summary of a run, which its commit status links to. */
export const sentSummary = (rows: ReadonlyArray<Publication>): Publication | undefined =>
  rows.find(({ operation, status }) => operation._tag === "Summary" && status === "sent")

/** True for operations that always become visible at the host. The others reconcile and may have nothing to do, or one person gets them. */
const appears = ({ operation: { _tag } }: Pick<Publication, "operation">): boolean =>
  _tag !== "Threads" && _tag !== "Thread" && _tag !== "Issues" && _tag !== "Verdict" && _tag !== "DirectMessage"

/** True for the commit status that ends a run. */
export const isFinalStatus = ({ operation }: Pick<Publication, "operation">): boolean =>
  operation._tag === "Status" && operation.state !== "pending"

/** Returns the final status of a run, with a note if the host refused a part of what people read. */
export const withPartNote = (row: Publication, siblings: ReadonlyArray<Publication>): Publication => {
  const { operation } = row
  if (operation._tag !== "Status" || !siblings.some((other) => isContent(other) && isRefused(other))) return row
  return { ...row, operation: { ...operation, description: { _tag: "PartlyPublished", why: operation.description } } }
}

/** True for the commit status of a successful publication, before it is sent. */
const isSuccess = ({ operation, status }: Pick<Publication, "operation" | "status">): boolean =>
  operation._tag === "Status" &&
  (operation.state === "success" || operation.state === "neutral") &&
  status === "pending"

/** True for what vouches for the published review: nothing of it is sent if nothing was published. */
export const vouches = (row: Pick<Publication, "operation" | "status">): boolean =>
  isSuccess(row) || row.operation._tag === "Statement"

/** True for a row that a workspace in shadow keeps on record only. A statement is stored, and no host gets it. */
export const isWithheld = (
  { outputs }: { readonly outputs: Pick<Workspace["outputs"], "shadow"> },
  { operation }: Pick<Publication, "operation">
): boolean => outputs.shadow && operation._tag !== "Statement"

/** Consecutive publisher crashes after which the row that they handled is considered the cause. */
export const maxStarts = 5

/** True if the host refused the row permanently or it is no longer retried. */
const isRefused = ({ status }: Pick<Publication, "status">): boolean => status === "failed" || status === "quarantined"

/** True if the host has what the row is about: it was written, or was there. */
const isInEffect = ({ status }: Pick<Publication, "status">): boolean => status === "sent" || status === "nothing_to_do"

/** True if something was refused, and nothing is or can become visible. */
export const isUnpublished = (rows: ReadonlyArray<Pick<Publication, "operation" | "status">>): boolean => {
  const contents = rows.filter(isContent)
  return contents.some(isRefused) && contents.filter(appears).every((row) => isRefused(row) || row.status === "dropped")
}

/**
 * Returns whether something that only maintainers get was not delivered and will not be. `isPrivate`: whether a row is for them. Other
 * publications mention the delivery, so none of them is sent then.
 */
export const isUndelivered = (rows: ReadonlyArray<Publication>, isPrivate: (row: Publication) => boolean): boolean =>
  rows.some((row) => isPrivate(row) && (isRefused(row) || row.status === "dropped"))

export interface RunEnd {
  readonly to: "succeeded" | "failed" | "skipped"
  readonly partial: boolean
  readonly reason: Reason | undefined
}

/**
 * Returns the final state of a run in `publishing` from its rows, or undefined while one of them is open. `skipReason`: the reason for which no
 * file was read; such a run is skipped unless something was written.
 */
export const runEnd = (
  rows: ReadonlyArray<Pick<Publication, "status" | "operation" | "error">>,
  isCut: boolean,
  skipReason?: Reason
): RunEnd | undefined => {
  if (rows.some(({ status }) => status === "pending" || status === "sending" || status === "unknown")) return undefined
  const contents = rows.filter(isContent)
  const failed = contents.filter(isRefused)
  const visible = contents.filter(appears)
  const inEffect = visible.filter(isInEffect)
  const isUnwritten = visible.every(({ status }) => status !== "sent")
  // A request for changes that stays is no reason to count the review as unpublished.
  const dropped = contents.filter(({ operation, status }) => status === "dropped" && operation._tag !== "Verdict")
  const to =
    failed.length > 0 && inEffect.length === 0
      ? "failed"
      : (inEffect.length === 0 && dropped.length > 0) ||
          (isUnwritten && failed.length === 0 && skipReason !== undefined)
        ? "skipped"
        : "succeeded"
  const withheld = rows.find(({ error }) => error?._tag === "InShadow")
  const reason = failed[0]?.error ?? dropped[0]?.error ?? skipReason ?? withheld?.error
  return { to, partial: failed.length > 0 || isCut, reason }
}

type CommandRetry =
  | { readonly _tag: "GiveUp"; readonly reason: Reason }
  | { readonly _tag: "Retry"; readonly notBefore: number; readonly isAttempt: boolean }

/** Returns what happens to a failed comment command, with the same limits as other writes. `attempts` counts the earlier ones. */
export const afterCommandFailure = (
  error: ForgeError,
  { attempts, ageMillis }: { readonly attempts: number; readonly ageMillis: number },
  now: number,
  random: number
): CommandRetry => {
  if (isFinal(error)) return { _tag: "GiveUp", reason: error.why }
  const isAttempt = error.isOutage !== true
  // The count starts from zero after a restart; the age does not.
  if ((isAttempt && attempts + 1 >= maxAttempts) || ageMillis > maxDeferral) {
    return { _tag: "GiveUp", reason: { _tag: "GivenUpAfter", attempts: attempts + 1, reason: error.why } }
  }
  const pause = isAttempt ? pauseMillis(attempts + 1, random) : outagePause
  return { _tag: "Retry", notBefore: now + Math.max(pause, error.retryAfterMillis ?? 0), isAttempt }
}

/** A finished review is published on its own commit if the review of the newer head starts later than this. */
const maxSuccessorDelay = Duration.toMillis("1 hour")

/**
 * Returns the note for readers of a review that is published on its own commit although a newer one exists, or undefined if the newer one
 * is reviewed soon and the finished review is dropped. Times are milliseconds since the epoch.
 */
export const lateNote = (successor: {
  readonly reviewed: string
  readonly newest: string
  readonly now: number
  readonly dueAt: number
  readonly isPaused: boolean
}): string | undefined => {
  const { reviewed, newest, now, dueAt, isPaused } = successor
  if (!isPaused && dueAt - now <= maxSuccessorDelay) return undefined
  const time = `${new Date(dueAt).toISOString().slice(0, 16).replace("T", " ")} UTC`
  const later = isPaused ? "when reviews of this repository are resumed" : `after ${time}`
  return `This review is of commit ${reviewed.slice(0, 12)}. The newest commit, ${newest.slice(0, 12)}, will be reviewed ${later}.`
}

/** Longest body in characters that the note is prepended to; all hosts accept this length. */
const maxNotedBody = 60_000

/** Prepends the note to a summary and returns other operations unchanged. */
export const withNote = (row: Publication, note: string | undefined): Publication => {
  const { operation } = row
  return note === undefined || operation._tag !== "Summary" || operation.body.length > maxNotedBody
    ? row
    : { ...row, operation: { ...operation, body: `> ${note}\n\n${operation.body}` } }
}
