/**
 * Transitions of entries, as pure functions that every store applies. States: domain/Entry.ts. A target has at most one entry that is
 * `next` (waiting or ready) and at most one that runs.
 *
 * | admitted head                | next: same head | next: no head, or none admitted | next: another head | no next       |
 * |------------------------------|-----------------|---------------------------------|--------------------|---------------|
 * | same as the running entry's  | joins next      | joins running                   | joins running      | joins running |
 * | any other, or none           | joins next      | joins next                      | replaces next      | opens         |
 *
 * The head of a pull request whose target branch changed counts as another head. What replaces an entry that people requested settles its events:
 * who of them may request a review is known only when it starts. An entry that several people requested names the one of the highest rank.
 *
 * An automatic push always joins the next of its branch, and its change replaces the entry's: AutomaticCommits.ts has already decided which
 * pushes belong together and their range.
 */
import { haveSameBase, higherRequester } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import { isDue, isTerminal, maxLosses, Priority } from "../../domain/Entry.ts"
import type { Entry } from "../../domain/Entry.ts"
import { nextLease, noLease } from "../../domain/FencingToken.ts"
import type { LeaseToken } from "../../domain/FencingToken.ts"
import type { TargetKey } from "../../domain/Keys.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { QueueAdmission, Finish } from "../Queue.ts"
import type { Retried } from "../operator/QueueControl.ts"

/** The active entries of one target. */
export interface EntryPosition {
  readonly next: Entry | undefined
  readonly running: Entry | undefined
}

type Admittance =
  /** `entry` is the joined one in its new state; `from` is its previous state. */
  | { readonly _tag: "Joined"; readonly entry: Entry; readonly from: Entry }
  | { readonly _tag: "Replaced"; readonly entry: Entry; readonly superseded: Entry; readonly from: Entry }
  | { readonly _tag: "Opened"; readonly entry: Entry }

/** Admits an item. `target` is the key by which the caller looked up the position. */
export const admit = (
  { next, running }: EntryPosition,
  item: QueueAdmission,
  newId: () => string,
  target: TargetKey
): Admittance => {
  const head = item.change.head
  if (next !== undefined && item.change.target.kind === "push") return extended(next, item)
  const isSame = ({ change }: Entry): boolean => change.head === head && haveSameBase(change, item.change)
  if (next !== undefined && isSame(next)) return joined(next, item)
  const joinable = running !== undefined && running.cancelRequested === undefined
  if (joinable && head !== undefined && isSame(running)) {
    return { _tag: "Joined", entry: withEvent(running, item.eventId), from: running }
  }
  if (next === undefined) return { _tag: "Opened", entry: opened(item, newId(), target) }
  if (next.change.head === undefined || head === undefined) return joined(next, item)
  const entry = inherit(opened(item, newId(), target), next)
  const superseded: Entry = { ...next, status: "superseded", reason: replacedBy(next.change, item.change) }
  if (next.change.requestedBy === undefined) return { _tag: "Replaced", entry, superseded, from: next }
  const events = [...next.events, item.eventId]
  return { _tag: "Replaced", entry: { ...entry, events }, superseded: { ...superseded, events: [] }, from: next }
}

const replacedBy = (earlier: Change, { baseRef, head }: Change): Reason =>
  earlier.head === head ? { _tag: "BaseChanged", branch: baseRef } : { _tag: "NewerHead", head }

const opened = (item: QueueAdmission, id: string, target: TargetKey): Entry => ({
  id,
  workspace: item.change.workspace,
  targetKey: target,
  change: item.change,
  configHash: item.configHash,
  priority: item.priority,
  status: "waiting",
  events: [item.eventId],
  admittedAt: item.admittedAt,
  dueAt: item.dueAt,
  attempts: 0,
  losses: 0,
  expires: mayExpire(item),
  reason: item.reason,
  token: noLease,
  leaseUntil: undefined,
  owner: undefined,
  awaitsModel: false,
  cancelRequested: undefined
})

/** Returns whether work may expire. Automatic work may, unless the admission sets it. */
const mayExpire = ({ expires, priority }: Pick<QueueAdmission, "expires" | "priority">): boolean =>
  expires ?? priority === Priority.automatic

const withEvent = (entry: Entry, eventId: string): Entry => ({ ...entry, events: [...entry.events, eventId] })

/**
 * A request for the same review moves it forward if it is earlier or more urgent, and keeps it from expiring if it may not expire. Only a
 * person shortens a backoff.
 */
const joined = (next: Entry, item: QueueAdmission): Admittance => {
  const backsOff = next.attempts > 0 && item.change.requestedBy === undefined
  const sooner = !backsOff && item.dueAt < next.dueAt
  const change = next.change.head === undefined ? item.change : next.change
  return {
    _tag: "Joined",
    entry: {
      ...withEvent(next, item.eventId),
      change: requestedBy(change, higherRequester(next.change.requestedBy, item.change.requestedBy)),
      priority: Math.min(next.priority, item.priority),
      expires: next.expires && mayExpire(item),
      dueAt: sooner ? item.dueAt : next.dueAt,
      reason: sooner ? item.reason : next.reason
    },
    from: next
  }
}

/** Extends the waiting batch of pushes by one. */
const extended = (next: Entry, item: QueueAdmission): Admittance => ({
  _tag: "Joined",
  entry: { ...withEvent(next, item.eventId), change: item.change },
  from: next
})

/** Passes on the position of `earlier`: pushing never loses it, and a person's request remains. */
const inherit = (entry: Entry, earlier: Entry): Entry => ({
  ...entry,
  change: requestedBy(entry.change, higherRequester(entry.change.requestedBy, earlier.change.requestedBy)),
  priority: Math.min(entry.priority, earlier.priority),
  admittedAt: Math.min(entry.admittedAt, earlier.admittedAt),
  expires: entry.expires && earlier.expires,
  dueAt: Math.min(entry.dueAt, earlier.dueAt),
  reason: earlier.dueAt < entry.dueAt ? earlier.reason : entry.reason
})

const requestedBy = (change: Change, person: string | undefined): Change =>
  person === change.requestedBy ? change : { ...change, requestedBy: person }

/** Promotes waiting -> ready, unless another entry of the target runs or it is not due. */
export const promote = (entry: Entry, { running }: EntryPosition, now: number): Entry | undefined =>
  entry.status === "waiting" && isDue(entry, now) && running === undefined ? { ...entry, status: "ready" } : undefined

/** Demotes ready -> waiting. */
export const demote = (entry: Entry): Entry | undefined =>
  entry.status === "ready" ? { ...entry, status: "waiting" } : undefined

/** Moves ready -> running, with the next token. */
export const claim = (
  entry: Entry,
  { running }: EntryPosition,
  lease: { readonly owner: string; readonly until: number }
): Entry | undefined =>
  entry.status === "ready" && running === undefined
    ? { ...entry, status: "running", token: nextLease(entry.token), owner: lease.owner, leaseUntil: lease.until }
    : undefined

export const holds = (entry: Entry, token: LeaseToken): boolean => entry.status === "running" && entry.token === token

/** Marks a running entry as one that awaits its model, until it ends or waits again. */
export const awaitModel = (entry: Entry): Entry => (entry.awaitsModel ? entry : { ...entry, awaitsModel: true })

const ended = (entry: Entry, end: Pick<Entry, "status" | "reason" | "attempts">): Entry => ({
  ...entry,
  ...end,
  owner: undefined,
  leaseUntil: undefined,
  awaitsModel: false,
  cancelRequested: undefined
})

export type Ended =
  | { readonly _tag: "Ended" | "Waits"; readonly entry: Entry }
  /** It would wait again, but a newer entry waits already and settles its events. */
  | { readonly _tag: "Yielded"; readonly entry: Entry; readonly to: Entry; readonly toFrom: Entry }

/** Ends a running entry whose lease is held. One that is to be cancelled does not wait again. */
export const finish = (entry: Entry, { next }: EntryPosition, how: Finish): Ended => {
  switch (how._tag) {
    case "Done":
      return {
        _tag: "Ended",
        entry: ended(entry, { status: "done", reason: how.reason, attempts: entry.attempts + 1 })
      }
    case "Dead":
      return {
        _tag: "Ended",
        entry: ended(entry, { status: "dead", reason: how.reason, attempts: entry.attempts + 1 })
      }
    case "Cancelled":
      return {
        _tag: "Ended",
        entry: ended(entry, { status: "cancelled", reason: how.reason, attempts: entry.attempts })
      }
    case "Retry":
      return waitAgain(how.priority === undefined ? entry : unrequested(entry, how.priority), next, {
        dueAt: how.dueAt,
        reason: how.reason,
        attempts: entry.attempts + (how.counted ? 1 : 0)
      })
  }
}

/** Removes the requests of people from an entry that was also admitted without them, with that priority. */
const unrequested = (entry: Entry, priority: number): Entry => ({
  ...entry,
  priority,
  change: requestedBy(entry.change, undefined)
})

/** Returns whether the entry runs but its worker is lost. */
export const isLost = (entry: Entry, now: number, lost: (owner: string) => boolean): boolean =>
  entry.status === "running" && ((entry.leaseUntil ?? now) <= now || (entry.owner !== undefined && lost(entry.owner)))

/** Reclaims an entry. It costs no attempt, because nothing was completed; but an entry that keeps losing its workers is dead. */
export const reclaim = (entry: Entry, { next }: EntryPosition, now: number): Ended => {
  const { attempts } = entry
  const losses = entry.losses + 1
  const reason: Reason = { _tag: "WorkerLost", count: losses }
  const lost = { ...entry, losses }
  return losses >= maxLosses && entry.cancelRequested === undefined
    ? { _tag: "Ended", entry: ended(lost, { status: "dead", reason, attempts }) }
    : waitAgain(lost, next, { dueAt: now, reason, attempts })
}

const waitAgain = (
  entry: Entry,
  next: Entry | undefined,
  again: { readonly dueAt: number; readonly reason: Reason; readonly attempts: number }
): Ended => {
  const { dueAt, reason, attempts } = again
  if (entry.cancelRequested !== undefined) {
    return { _tag: "Ended", entry: ended(entry, { status: "cancelled", reason: entry.cancelRequested, attempts }) }
  }
  if (next === undefined)
    return { _tag: "Waits", entry: { ...ended(entry, { status: "waiting", reason, attempts }), dueAt } }
  return {
    _tag: "Yielded",
    entry: {
      ...ended(entry, { status: "superseded", reason: { _tag: "NewerReviewWaits", reason }, attempts }),
      events: []
    },
    to: {
      ...inherit(next, { ...entry, dueAt: next.dueAt, reason: next.reason }),
      events: [...next.events, ...entry.events]
    },
    toFrom: next
  }
}

/** Moves waiting or ready -> cancelled; a running one gets the first request to end. */
export const cancel = (entry: Entry, reason: Reason): Entry | undefined => {
  if (isTerminal(entry.status)) return undefined
  if (entry.status !== "running") return { ...entry, status: "cancelled", reason }
  return { ...entry, cancelRequested: entry.cancelRequested ?? reason }
}

/** Moves waiting -> expired. */
export const expire = (entry: Entry, reason: Reason): Entry => ({ ...entry, status: "expired", reason })

/** Moves dead -> waiting, with its attempts reset. */
export const retry = (entry: Entry, { next }: EntryPosition, now: number): Entry | Exclude<Retried, "retried"> => {
  if (entry.status !== "dead") return "not_dead"
  if (next !== undefined) return "newer"
  return {
    ...entry,
    status: "waiting",
    dueAt: now,
    attempts: 0,
    losses: 0,
    reason: { _tag: "RetriedByOperator" }
  }
}
