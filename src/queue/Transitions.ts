/**
 * What happens to entries, as pure functions: every store applies these and decides nothing itself. States: domain/Entry.ts.
 * A target has at most one entry that is `next` (waiting or ready) and at most one that runs.
 *
 * | admitted head                | next: same head | next: no head, or none admitted | next: another head | no next |
 * |------------------------------|-----------------|---------------------------------|--------------------|---------|
 * | same as the running entry's  | joins next      | joins running                   | joins running      | joins running |
 * | any other, or none           | joins next      | joins next                      | replaces next      | opens   |
 *
 * An automatic push always joins the next of its branch, and its change stands for both from then on: which pushes belong
 * together, and from where to where they go, was decided before (AutomaticCommits.ts).
 */
import type { Change } from "../domain/Change.ts"
import { targetKey } from "../domain/Change.ts"
import type { Entry } from "../domain/Entry.ts"
import type { Admission, Finish } from "./Queue.ts"

/** The active entries of one target. */
export interface Place {
  readonly next: Entry | undefined
  readonly running: Entry | undefined
}

export type Admittance =
  /** `entry` is the one joined, as it is from now on; `from` as it was. */
  | { readonly _tag: "Joined"; readonly entry: Entry; readonly from: Entry }
  | { readonly _tag: "Replaced"; readonly entry: Entry; readonly superseded: Entry; readonly from: Entry }
  | { readonly _tag: "Opened"; readonly entry: Entry }

export const admit = ({ next, running }: Place, item: Admission, newId: () => string): Admittance => {
  const head = item.change.head
  if (next !== undefined && item.change.target.kind === "push") return extended(next, item)
  if (next !== undefined && next.change.head === head) return joined(next, item)
  if (running !== undefined && head !== undefined && running.change.head === head) {
    return { _tag: "Joined", entry: withEvent(running, item.eventId), from: running }
  }
  if (next === undefined) return { _tag: "Opened", entry: opened(item, newId()) }
  if (next.change.head === undefined || head === undefined) return joined(next, item)
  return {
    _tag: "Replaced",
    entry: inherit(opened(item, newId()), next),
    superseded: { ...next, status: "superseded", reason: `a newer head arrived: ${head}` },
    from: next
  }
}

const opened = (item: Admission, id: string): Entry => ({
  id,
  workspace: item.change.workspace,
  targetKey: targetKey(item.change),
  change: item.change,
  configHash: item.configHash,
  priority: item.priority,
  status: "waiting",
  events: [item.eventId],
  admittedAt: item.admittedAt,
  dueAt: item.dueAt,
  attempts: 0,
  reason: undefined,
  token: 0,
  leaseUntil: undefined,
  owner: undefined
})

const withEvent = (entry: Entry, eventId: string): Entry => ({ ...entry, events: [...entry.events, eventId] })

/** What asks for the same review sooner or more urgently moves it forward. A backoff is cut short only by a person. */
const joined = (next: Entry, item: Admission): Admittance => {
  const backsOff = next.attempts > 0 && item.change.requestedBy === undefined
  const change = next.change.head === undefined ? item.change : next.change
  return {
    _tag: "Joined",
    entry: {
      ...withEvent(next, item.eventId),
      change: requestedBy(change, next.change.requestedBy ?? item.change.requestedBy),
      priority: Math.min(next.priority, item.priority),
      dueAt: backsOff ? next.dueAt : Math.min(next.dueAt, item.dueAt)
    },
    from: next
  }
}

/** The batch of pushes that waits grows by one. */
const extended = (next: Entry, item: Admission): Admittance => ({
  _tag: "Joined",
  entry: { ...withEvent(next, item.eventId), change: item.change },
  from: next
})

/** The place in line of `earlier`: pushing never loses it, and a review that a person asked for stays asked for. */
const inherit = (entry: Entry, earlier: Entry): Entry => ({
  ...entry,
  change: requestedBy(entry.change, entry.change.requestedBy ?? earlier.change.requestedBy),
  priority: Math.min(entry.priority, earlier.priority),
  admittedAt: Math.min(entry.admittedAt, earlier.admittedAt),
  dueAt: Math.min(entry.dueAt, earlier.dueAt)
})

const requestedBy = (change: Change, person: string | undefined): Change =>
  person === change.requestedBy ? change : { ...change, requestedBy: person }

/** waiting -> ready. Not while another entry of the target runs, and not before it is due. */
export const release = (entry: Entry, { running }: Place, now: number): Entry | undefined =>
  entry.status === "waiting" && entry.dueAt <= now && running === undefined ? { ...entry, status: "ready" } : undefined

/** ready -> waiting. */
export const withdraw = (entry: Entry): Entry | undefined =>
  entry.status === "ready" ? { ...entry, status: "waiting" } : undefined

/** ready -> running, with the next token. */
export const claim = (
  entry: Entry,
  { running }: Place,
  lease: { readonly owner: string; readonly until: number }
): Entry | undefined =>
  entry.status === "ready" && running === undefined
    ? { ...entry, status: "running", token: entry.token + 1, owner: lease.owner, leaseUntil: lease.until }
    : undefined

export const holds = (entry: Entry, token: number): boolean => entry.status === "running" && entry.token === token

const ended = (entry: Entry, end: Pick<Entry, "status" | "reason" | "attempts">): Entry => ({
  ...entry,
  ...end,
  owner: undefined,
  leaseUntil: undefined
})

export type Ended =
  | { readonly _tag: "Ended" | "Waits"; readonly entry: Entry }
  /** It would wait again, but a newer one waits already: that one answers for its events from now on. */
  | { readonly _tag: "Yielded"; readonly entry: Entry; readonly to: Entry; readonly toFrom: Entry }

/** The end of a running entry whose lease holds. */
export const finish = (entry: Entry, { next }: Place, how: Finish): Ended => {
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
      return waitAgain(entry, next, {
        dueAt: how.dueAt,
        reason: how.reason,
        attempts: entry.attempts + (how.counted ? 1 : 0)
      })
  }
}

/** Running, but its worker is gone. It costs no attempt: nothing was completed. */
export const isLost = (entry: Entry, now: number, lost: (owner: string) => boolean): boolean =>
  entry.status === "running" && ((entry.leaseUntil ?? now) <= now || (entry.owner !== undefined && lost(entry.owner)))

export const reclaim = (entry: Entry, { next }: Place, now: number): Ended =>
  waitAgain(entry, next, { dueAt: now, reason: "its worker was lost", attempts: entry.attempts })

const waitAgain = (
  entry: Entry,
  next: Entry | undefined,
  again: { readonly dueAt: number; readonly reason: string; readonly attempts: number }
): Ended => {
  const { dueAt, reason, attempts } = again
  if (next === undefined)
    return { _tag: "Waits", entry: { ...ended(entry, { status: "waiting", reason, attempts }), dueAt } }
  return {
    _tag: "Yielded",
    entry: {
      ...ended(entry, { status: "superseded", reason: `${reason}; a newer review waits`, attempts }),
      events: []
    },
    to: {
      ...inherit(next, { ...entry, dueAt: next.dueAt }),
      events: [...next.events, ...entry.events]
    },
    toFrom: next
  }
}

/** waiting or ready -> cancelled. */
export const cancel = (entry: Entry, reason: string): Entry => ({ ...entry, status: "cancelled", reason })

/** waiting -> expired. */
export const expire = (entry: Entry, reason: string): Entry => ({ ...entry, status: "expired", reason })
