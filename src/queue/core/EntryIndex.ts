/**
 * In-memory index of a store within this process: the fields of active entries that decisions and lookups need, and the number of entries
 * per status. A store on disk keeps the entries there and queries this instead of the disk; it is rebuilt from the active entries at start.
 */
import { foldRepo } from "../../domain/Change.ts"
import type { Entry, EntryStatus } from "../../domain/Entry.ts"
import type { TargetKey } from "../../domain/Keys.ts"
import { noEntries } from "./EntryTable.ts"
import { findCutoff } from "../ExpiryCutoffs.ts"
import type { Cutoff, ExpiryCutoffs } from "../ExpiryCutoffs.ts"
import { Heap } from "./Heap.ts"
import type { Scheduled, QueueSnapshot } from "../Plan.ts"
import { ReviewSchedule } from "./Schedule.ts"

/** The indexed fields of an entry. */
export interface Tracked extends Omit<Scheduled, "status"> {
  readonly status: EntryStatus
  readonly workspace: string
  readonly expires: boolean
  /** True if the entry was replaced or removed, so that heaps that hold it can drop it. */
  isStale: boolean
}

export const tracked = (entry: Entry): Tracked => ({
  id: entry.id,
  status: entry.status,
  workspace: entry.workspace,
  targetKey: entry.targetKey,
  repo: foldRepo(entry.change.repo.fullName),
  priority: entry.priority,
  admittedAt: entry.admittedAt,
  dueAt: entry.dueAt,
  awaitsModel: entry.awaitsModel,
  expires: entry.expires,
  isStale: false
})

type Active = Tracked & Scheduled

const isActive = (entry: Tracked): entry is Active =>
  entry.status === "waiting" || entry.status === "ready" || entry.status === "running"

export class EntryIndex {
  readonly counts = { ...noEntries }
  readonly #next = new Map<string, Active>()
  readonly #running = new Map<string, Active>()
  readonly #schedule = new ReviewSchedule<Active>()
  /** Expiring entries by workspace. */
  readonly #expiring = new Map<string, Heap<Tracked>>()
  readonly #staying = byAge(() => this.counts.waiting)

  /** Replaces, adds (`from` undefined) or removes (`to` undefined) an entry. Keeps `to`: it is the `from` of the entry's next change. */
  apply(from: Tracked | undefined, to: Tracked | undefined): void {
    const was = from !== undefined && isActive(from) ? from : undefined
    const becomes = to !== undefined && isActive(to) ? to : undefined
    if (from !== undefined) this.counts[from.status] -= 1
    if (to !== undefined) this.counts[to.status] += 1
    if (was !== undefined) this.#leave(was)
    if (becomes !== undefined) this.#enter(becomes)
    this.#schedule.apply(was, becomes)
  }

  /** Returns the active entry with this id and target. */
  find(id: string, targetKey: TargetKey): Tracked | undefined {
    const next = this.#next.get(targetKey)
    if (next?.id === id) return next
    const running = this.#running.get(targetKey)
    return running?.id === id ? running : undefined
  }

  next(targetKey: TargetKey): string | undefined {
    return this.#next.get(targetKey)?.id
  }

  running(targetKey: TargetKey): string | undefined {
    return this.#running.get(targetKey)?.id
  }

  allRunning(): ReadonlyArray<string> {
    return Array.from(this.#running.values(), ({ id }) => id)
  }

  activeIds(): ReadonlyArray<string> {
    return [...this.#next.values(), ...this.#running.values()].map(({ id }) => id)
  }

  /** Returns the ids of the active entries of a workspace, in the order of their creation. */
  active(workspace: string): ReadonlyArray<string> {
    return this.#schedule.ids(workspace).toSorted()
  }

  workspaces(): ReadonlyArray<string> {
    return this.#schedule.workspaces()
  }

  snapshot(workspace: string, now: number, places: number): Omit<QueueSnapshot, "paused"> {
    return this.#schedule.snapshot(workspace, now, places)
  }

  pending(workspace?: string): number {
    return workspace === undefined ? this.counts.waiting + this.counts.ready : this.#schedule.pending(workspace)
  }

  oldestWaiting(): number | undefined {
    let oldest = this.#staying.first()?.admittedAt
    for (const [workspace, waiting] of this.#expiring) {
      const first = waiting.first()?.admittedAt
      if (first === undefined) this.#expiring.delete(workspace)
      else if (oldest === undefined || first < oldest) oldest = first
    }
    return oldest
  }

  /** Returns the ids of waiting entries that may expire and were admitted before the time of their workspace. */
  expiring(before: ExpiryCutoffs): ReadonlyArray<string> {
    return Array.from(this.#expiring, ([workspace, waiting]) =>
      admittedBefore(waiting, findCutoff(before, workspace))
    ).flat()
  }

  #leave(from: Active): void {
    from.isStale = true
    // If several changes are applied together, the new entry of a target may come before the old one leaves.
    const places = from.status === "running" ? this.#running : this.#next
    if (places.get(from.targetKey) === from) places.delete(from.targetKey)
  }

  #enter(to: Active): void {
    const places = to.status === "running" ? this.#running : this.#next
    places.set(to.targetKey, to)
    if (to.status === "waiting") (to.expires ? this.#expiringIn(to.workspace) : this.#staying).add(to)
  }

  #expiringIn(workspace: string): Heap<Tracked> {
    let waiting = this.#expiring.get(workspace)
    if (waiting === undefined) {
      waiting = byAge(() => this.#schedule.waiting(workspace))
      this.#expiring.set(workspace, waiting)
    }
    return waiting
  }
}

const byAge = (max: () => number): Heap<Tracked> =>
  new Heap<Tracked>(
    (a, b) => a.admittedAt - b.admittedAt,
    (entry) => !entry.isStale,
    max
  )

const admittedBefore = (waiting: Heap<Tracked>, cutoff: Cutoff): ReadonlyArray<string> => {
  if (cutoff === undefined) return []
  const expired: Array<Tracked> = []
  for (let next = waiting.first(); next !== undefined && next.admittedAt < cutoff; next = waiting.first()) {
    expired.push(next)
    waiting.take()
  }
  // They stay until the caller changes them.
  for (const entry of expired) waiting.add(entry)
  return expired.map(({ id }) => id)
}
