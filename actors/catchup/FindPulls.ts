/**
 * Decides about a pull request that changed at its host: about its head if no delivery of it was decided about, about commands in its
 * comments, and about its end.
 */
import { Effect } from "effect"
import type { Admission } from "../../src/admission/Admit.ts"
import { toSourceFacts } from "../../src/admission/Select.ts"
import { hasUsername, haveSameBase } from "../../src/domain/Change.ts"
import type { Repo } from "../../src/domain/Change.ts"
import type { IgnoreReason } from "../../src/domain/Decision.ts"
import type { HostEvent } from "../../src/domain/HostEvent.ts"
import { commandKey, deliveryKey, isReplyId } from "../../src/domain/Keys.ts"
import type { FoundComment, HostPull } from "../../src/forge/Forge.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import { maxEndAgeMillis, Settlements } from "../../src/store/Settlements.ts"
import { admitFound, decideFound, keyOfTarget, pullFacts } from "./HostSearch.ts"
import type { HostSearch, ReviewedAt, SeenUntil } from "./HostSearch.ts"
import { findCommand, isOwnComment } from "../../src/domain/CommentCommand.ts"
import { parseMarkers } from "../../src/outputs/Marker.ts"

/** Decides about commands and questions in comments of a pull request that no delivery reported. */

/** Returns the time of the last reply of the service to a request for help. A marker in a comment of others shows nothing. */
const readReplies = Effect.fnUntraced(function* ({ client }: HostSearch, comments: ReadonlyArray<FoundComment>) {
  const replies = comments.filter(({ body }) => parseMarkers(body).some(({ op }) => isReplyId(op)))
  if (replies.length === 0) return Number.NEGATIVE_INFINITY
  const { username } = yield* client.self
  const own = replies.filter(({ author }) => hasUsername(author, username))
  return Math.max(...own.map(({ createdAt }) => createdAt))
})

const decideCommands = Effect.fnUntraced(function* (
  search: HostSearch,
  pull: HostPull,
  records: ReadonlyArray<StoredEvent>,
  reviewedAt: ReviewedAt,
  { first, since }: SeenUntil
) {
  const { baseRef, number, repo, title, url } = pull
  if (pull.comments === 0) return
  const from = Math.max(first, since)
  const target = keyOfTarget(search, { repo, target: { kind: "pull_request", number } })
  const facts = pullFacts(search, { ...pull, head: undefined })
  const comments = yield* search.client.changes.comments(repo, number, from)
  const repliedAt = yield* readReplies(search, comments)
  for (const { author, body, createdAt, isReply, place } of comments) {
    const key = commandKey(search.kind, target, place.id)
    const isOnRecord = records.some((record) => record.deliveryKey === key)
    if (author === undefined || isOwnComment(body) || createdAt < from || isOnRecord) continue
    const command = findCommand(body)
    // A restored backup has no record of the review that followed.
    if (command?.name === "review" && ((yield* reviewedAt) ?? 0) >= createdAt) continue
    if (command?.name === "help" && createdAt <= repliedAt) continue
    const about = { ...facts, sender: author, number, comment: place, baseRef, title, url }
    const event: HostEvent =
      command === undefined ? { _tag: "Discussed", ...about, body, isReply } : { _tag: "Commanded", ...about, command }
    const admitted = yield* admitFound(search, event)
    if (admitted.accepted) yield* decideFound(search, event, key, admitted.workspace.id)
  }
})

/** A pull request that may have changed. */
interface Candidate {
  readonly repo: Repo
  readonly number: number
  /** Time of its last update, by the host's clock; undefined if a delivery about it is on record. */
  readonly updatedAt: number | undefined
}

/** Records of a pull request that are read: its newest deliveries. */
const maxRecords = 200

/** Reasons that may change while the head stays the same. A pull request without them would be reviewed. */
const passing: ReadonlySet<IgnoreReason> = new Set([
  "draft",
  "label_ignored",
  "target_branch_not_watched",
  "workspace_disabled",
  "trigger_disabled"
])

export const isPassing = (reason: string | undefined): boolean => [...passing].some((one) => one === reason)

const toEvent = (search: HostSearch, pull: HostPull): Extract<HostEvent, { readonly _tag: "PullRequestUpdated" }> => {
  const { author, base, baseRef, description, draft, head, headRef, labels, number, title, url } = pull
  return {
    _tag: "PullRequestUpdated",
    ...pullFacts(search, pull),
    pull: { number, head, base, headRef, baseRef, title, description, url, author, draft, labels },
    isHeadOnly: true
  }
}

/** Returns whether work waits for a later time, such as that of a window, than `dueAt`, which it would get now. */
export const waitsLonger = ({ outcome, work }: StoredEvent, dueAt: number, now: number): boolean =>
  outcome === undefined && work !== undefined && work.dueAt > now && dueAt < work.dueAt

/**
 * Returns whether a decision on record about a head still holds: its work was not given up for another head, or at the end of its pull request,
 * and does not wait for a window that has changed.
 */
const holds = (record: StoredEvent, { dueAt }: Admission, now: number): boolean => {
  const { outcome, outcomeReason } = record
  if (outcome === "superseded" || waitsLonger(record, dueAt, now)) return false
  return !(outcome === "cancelled" && outcomeReason?._tag === "PullRequestClosed")
}

const isDecided = (records: ReadonlyArray<StoredEvent>, admission: Admission, now: number): boolean =>
  records.some(
    (record) =>
      record.work !== undefined &&
      record.facts.head === admission.change.head &&
      haveSameBase(record.work.change, admission.change) &&
      holds(record, admission, now)
  )

/** Returns the records of a pull request at triggers that are no longer configured: one may have had another name when it received them. */
const listRenamed = Effect.fnUntraced(function* ({ kind, snapshot }: HostSearch, { number, repo }: HostPull) {
  const filter = { provider: kind, repo: repo.fullName, number, limit: maxRecords }
  const records = yield* (yield* Receipts).list(filter)
  return records.filter((record) => record.trigger !== undefined && !snapshot.triggers.has(record.trigger))
})

/**
 * Returns whether a pull request without a record was last updated before the first search. The cause of a later update does not matter: its
 * author chooses the dates of commits, and no host returns the time of every push.
 */
const isOld = ({ updatedAt }: Candidate, { first }: SeenUntil): boolean => updatedAt !== undefined && updatedAt <= first

/** Returns when the service set a final status on the head of a pull request; undefined: it has none. Read at most once. */
const cacheReviewedAt = ({ client }: HostSearch, { head, repo }: HostPull) =>
  Effect.cached(
    Effect.map(client.changes.ownStatus(repo, head), (status) => (status?.state === "pending" ? undefined : status?.at))
  )

/** Failures that concern one change: the others are decided about. */
const ofOne: ReadonlySet<string> = new Set(["forbidden", "not_found", "conflict", "invalid"])

/** Counts a change that the host does not disclose, and continues. `place`: where it is, for the log. */
export const continueWithout =
  (
    { tally, trigger }: HostSearch,
    place: { readonly repository: string; readonly number: number } | { readonly delivery: string }
  ) =>
  <A, E extends { readonly _tag: string }, R>(deciding: Effect.Effect<A, E | ForgeError, R>) =>
    Effect.catchIf(
      deciding,
      (error): error is ForgeError => error instanceof ForgeError && ofOne.has(error.reason),
      ({ why }) => {
        tally.skipped += 1
        return Effect.logWarning("change not read, the search for missed changes continues without it", {
          trigger: trigger.name,
          ...place,
          reason: why
        })
      }
    )

const keyOf = (search: HostSearch, { baseRef, head, number, repo }: HostPull, more: string) => {
  const target = keyOfTarget(search, { repo, target: { kind: "pull_request", number } })
  return deliveryKey("catch-up", `${target}:${baseRef}:${head}${more}`)
}

/** Decides about the head of an open pull request. */
const decideHead = Effect.fnUntraced(function* (
  search: HostSearch,
  pull: HostPull,
  records: ReadonlyArray<StoredEvent>,
  reviewedAt: ReviewedAt
) {
  const event = toEvent(search, pull)
  const admitted = yield* admitFound(search, event)
  if (!admitted.accepted) {
    const { reason } = admitted
    const isOnRecord = records.some((record) => record.facts.head === pull.head && record.reason === reason)
    if (isOnRecord || !passing.has(reason)) return
    return yield* decideFound(search, event, keyOf(search, pull, `:${reason}`), undefined)
  }
  const { change } = admitted
  if (isDecided(records, admitted, search.now)) return
  if (isDecided(yield* listRenamed(search, pull), admitted, search.now)) return
  // Work that was given up, or waits, may be found again later; each time has a key of its own.
  const givenUp = records.find((record) => record.work !== undefined && record.facts.head === pull.head)
  // A restored backup has no record of the review.
  if (givenUp === undefined && (yield* reviewedAt) !== undefined) return
  const key = keyOf(search, pull, givenUp === undefined ? "" : `:after:${givenUp.id}`)
  yield* decideFound(search, event, key, change.workspace)
})

/** Cancels what waits for a pull request that was closed or merged, and has its findings decided about, unless a delivery of its end has. */
const decideEnd = Effect.fnUntraced(function* (
  search: HostSearch,
  pull: HostPull,
  records: ReadonlyArray<StoredEvent>
) {
  const reported = records.find(
    ({ outcome, reason, receivedAt }) =>
      reason === "closed" && outcome === undefined && search.now - receivedAt < maxEndAgeMillis
  )
  const isWaiting = records.some(
    ({ outcome, receivedAt, work }) =>
      work !== undefined && outcome === undefined && receivedAt > (reported?.receivedAt ?? 0)
  )
  if (reported !== undefined && !isWaiting) return
  const { baseRef, number, repo, state } = pull
  const target = keyOfTarget(search, { repo, target: { kind: "pull_request", number } })
  // A change that was closed may have been merged since then.
  const end = { targetKey: target, receivedAt: state === "merged" ? search.now : 0 }
  if (!isWaiting && (yield* (yield* Settlements).undecided(end)).length === 0) return
  const event = { _tag: "PullRequestClosed", ...pullFacts(search, pull), number, baseRef } as const
  yield* decideFound(search, event, keyOf(search, pull, `:${state}`), undefined)
})

export const decidePull = Effect.fnUntraced(function* (search: HostSearch, candidate: Candidate, seen: SeenUntil) {
  const { client, kind, snapshot, trigger } = search
  const { number, repo } = candidate
  const source = { ...toSourceFacts(kind, repo, undefined), any_branch: true }
  if (snapshot.route(trigger.name, source).length === 0) return
  const filter = { trigger: trigger.name, repo: repo.fullName, number, limit: maxRecords }
  const records = yield* (yield* Receipts).list(filter)
  if (records.length === 0 && isOld(candidate, seen)) return
  const pull = yield* client.pull(repo, number).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "not_found",
      () => Effect.succeed(undefined)
    )
  )
  if (pull === undefined) return
  if (pull.state !== "open") return yield* decideEnd(search, pull, records)
  const reviewedAt = yield* cacheReviewedAt(search, pull)
  yield* decideHead(search, pull, records, reviewedAt)
  yield* decideCommands(search, pull, records, reviewedAt, seen)
})
