/**
 * Decides the next steps of a workspace's scheduler: a pure function of the entries in flight, the eligible ones, the limits and the clock.
 * States and transitions: domain/Entry.ts.
 *
 * | an entry                                             | is promoted                                            |
 * |------------------------------------------------------|--------------------------------------------------------|
 * | before its due time                                  | at its due time: the alarm (`nextAt`)                  |
 * | whose target has an entry in flight (ready, running) | when that has ended: one review of a change at a time  |
 * | while `computing` entries in flight compute          | when one of them has ended or awaits its model         |
 * | while `computing + awaiting` entries are in flight   | when one of them has ended                             |
 * | a reply while `replies` of them are in flight        | when one of them has ended; reviews do not count       |
 * | of a paused workspace                                | after the workspace was resumed                        |
 * | otherwise                                            | now, by urgency                                        |
 *
 * Order of urgency: by priority; then the repository that was served the longest ago, so that a busy one does not starve the others; within
 * a repository by order of admission. The due time means "not before" and implies no order.
 */
import type { QueueConfig } from "../config/schema/Queue.ts"
import { isReply } from "../domain/Entry.ts"
import type { TargetKey } from "../domain/Keys.ts"

/** Fields of an active entry that decisions need. */
export interface Scheduled {
  readonly id: string
  readonly status: "waiting" | "ready" | "running"
  readonly targetKey: TargetKey
  /** Case-folded name of the repository. */
  readonly repo: string
  readonly priority: number
  readonly admittedAt: number
  readonly dueAt: number
  readonly awaitsModel: boolean
}

/** Limits of a workspace in the whole cluster. */
export interface WorkspaceLimits {
  /** Maximum number of entries in flight that do not await their models. */
  readonly computing: number
  /** Maximum number of further ones, which do. */
  readonly awaiting: number
  /** Maximum number of replies in flight, which the other limits do not count. */
  readonly replies: number
}

/** Returns the limits of every workspace. One that is busy leaves half of a node's reviews that await their models to others. */
export const workspaceLimits = ({ workers }: QueueConfig): WorkspaceLimits => ({
  computing: workers.per_workspace_concurrency,
  awaiting: Math.ceil(workers.max_waiting_for_model / 2),
  replies: workers.replies
})

export const maxInFlight = ({ computing, awaiting, replies }: WorkspaceLimits): number => computing + awaiting + replies

export interface QueueSnapshot {
  /** True while an operator has paused the workspace. */
  readonly paused: boolean
  /** Entries in flight: ready and running. */
  readonly inFlight: ReadonlyArray<Scheduled>
  /**
   * Eligible entries: waiting, due, and no other entry of their target in flight; at least the first `freeSlots` of each priority and
   * repository. Those of replies do not fill the places of reviews.
   */
  readonly eligible: ReadonlyArray<Scheduled>
  /** The earliest due time of the entries that are not due. */
  readonly nextAt: number | undefined
}

export interface Plan {
  /** Entries to promote (waiting -> ready), in this order. */
  readonly promote: ReadonlyArray<Scheduled>
  /** Entries to demote (ready -> waiting). */
  readonly demote: ReadonlyArray<Scheduled>
  /** Time of the next plan without a wake; undefined if only an event can change anything. */
  readonly nextAt: number | undefined
}

/** The number of the round in which each repository was last served; a repository without one comes first. */
export type Rounds = ReadonlyMap<string, number>

/** Numbers of entries that may be promoted in addition to those in flight. */
interface FreeSlots {
  readonly replies: number
  readonly reviews: number
}

export const countFreeSlots = (out: ReadonlyArray<Scheduled>, limits: WorkspaceLimits): FreeSlots => {
  const { awaiting, computing, replies } = limits
  const reviews = out.filter((entry) => !isReply(entry))
  const waiting = reviews.filter(({ awaitsModel }) => awaitsModel).length
  return {
    replies: Math.max(0, replies - (out.length - reviews.length)),
    reviews: Math.max(0, Math.min(computing - (reviews.length - waiting), computing + awaiting - reviews.length))
  }
}

export const plan = (snapshot: QueueSnapshot, limits: WorkspaceLimits, rounds: Rounds): Plan => {
  if (snapshot.paused) {
    return { promote: [], demote: snapshot.inFlight.filter(({ status }) => status === "ready"), nextAt: undefined }
  }
  const { inFlight, nextAt } = snapshot
  const free = countFreeSlots(inFlight, limits)
  const [replies, reviews] = [snapshot.eligible.filter(isReply), snapshot.eligible.filter((entry) => !isReply(entry))]
  const promote = [...orderByUrgency(replies, free.replies, rounds), ...orderByUrgency(reviews, free.reviews, rounds)]
  return { promote, demote: [], nextAt }
}

/** Sorts by priority, and round-robin over repositories within a priority. */
export const orderByUrgency = (
  eligible: ReadonlyArray<Scheduled>,
  freeSlots: number,
  rounds: Rounds
): ReadonlyArray<Scheduled> => {
  const chosen: Array<Scheduled> = []
  const busy = new Set<string>()
  const byPriority = Map.groupBy(eligible, ({ priority }) => priority)
  for (const priority of [...byPriority.keys()].toSorted((a, b) => a - b)) {
    if (chosen.length >= freeSlots) return chosen
    let lanes = [...Map.groupBy(byPriority.get(priority) ?? [], ({ repo }) => repo)]
      .map(([repo, entries]) => ({ last: rounds.get(repo) ?? -1, entries: entries.toSorted(byAdmission) }))
      .toSorted((a, b) => a.last - b.last || oldest(a.entries, b.entries))
    while (lanes.length > 0) {
      for (const { entries } of lanes) {
        if (chosen.length >= freeSlots) return chosen
        const entry = entries.shift()
        if (entry === undefined || busy.has(entry.targetKey)) continue
        busy.add(entry.targetKey)
        chosen.push(entry)
      }
      lanes = lanes.filter(({ entries }) => entries.length > 0)
    }
  }
  return chosen
}

type ByAdmission = Pick<Scheduled, "admittedAt" | "id">

export const byAdmission = (a: ByAdmission, b: ByAdmission): number =>
  a.admittedAt - b.admittedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

const oldest = ([a]: ReadonlyArray<Scheduled>, [b]: ReadonlyArray<Scheduled>): number =>
  a === undefined || b === undefined ? 0 : byAdmission(a, b)
