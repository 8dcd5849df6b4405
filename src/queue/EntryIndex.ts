/**
 * What a store within this process knows by heart: of active entries as much as decisions and lookups need, of all how many there
 * are in each status. A store that writes to disk keeps the entries there and asks this instead of the disk; it is rebuilt
 * from the active entries at start.
 */
import { foldRepo } from "../domain/Change.ts"
import type { Entry, EntryStatus } from "../domain/Entry.ts"
import { noEntries } from "./EntryTable.ts"
import { Heap } from "./Heap.ts"
import type { Scheduled, Survey } from "./Plan.ts"
import { Schedule } from "./Schedule.ts"

/** As much of an entry as is known by heart. */
export interface Tracked extends Omit<Scheduled, "status"> {
  readonly status: EntryStatus
  readonly workspace: string
  readonly expires: boolean
  /** No longer: the entry has become another, or is forgotten. So the heaps that hold it know without looking it up. */
  past: boolean
}

export const tracked = ({ change, ...entry }: Entry): Tracked => ({
  id: entry.id,
  status: entry.status,
  workspace: entry.workspace,
  targetKey: entry.targetKey,
  repo: foldRepo(change.repo.fullName),
  priority: entry.priority,
  admittedAt: entry.admittedAt,
  dueAt: entry.dueAt,
  expires: entry.expires,
  past: false
})

const isActive = (entry: Tracked): entry is Tracked & Scheduled =>
  entry.status === "waiting" || entry.status === "ready" || entry.status === "running"

export class EntryIndex {
  readonly counts = { ...noEntries }
  readonly #next = new Map<string, string>()
  readonly #running = new Map<string, string>()
  readonly #schedule = new Schedule<Tracked & Scheduled>()
  readonly #byAge = this.#waitingByAge()
  readonly #expiring = this.#waitingByAge()

  /** An entry becomes another, comes (`from` undefined) or is forgotten (`to` undefined). Takes `to` for its own. */
  apply(from: Tracked | undefined, to: Tracked | undefined): void {
    if (from !== undefined) this.#leave(from, to)
    if (to !== undefined) this.#enter(to, from !== undefined && isActive(from))
  }

  next(targetKey: string): string | undefined {
    return this.#next.get(targetKey)
  }

  running(targetKey: string): string | undefined {
    return this.#running.get(targetKey)
  }

  allRunning(): Iterable<string> {
    return this.#running.values()
  }

  /** Ids of the active entries of a workspace, in the order of their creation. */
  active(workspace: string): ReadonlyArray<string> {
    return this.#schedule.ids(workspace).toSorted()
  }

  workspaces(): ReadonlyArray<string> {
    return this.#schedule.workspaces()
  }

  survey(workspace: string, now: number, places: number): Omit<Survey, "paused"> {
    return this.#schedule.survey(workspace, now, places)
  }

  pending(workspace?: string): number {
    return workspace === undefined ? this.counts.waiting + this.counts.ready : this.#schedule.pending(workspace)
  }

  oldestWaiting(): number | undefined {
    return this.#byAge.first()?.admittedAt
  }

  /** Ids of those that wait, may expire and were admitted before. */
  expiring(admittedBefore: number): ReadonlyArray<string> {
    const found: Array<Tracked> = []
    for (let next = this.#expiring.first(); next !== undefined && next.admittedAt < admittedBefore;) {
      found.push(next)
      this.#expiring.take()
      next = this.#expiring.first()
    }
    // They stay until the caller changes them.
    for (const entry of found) this.#expiring.add(entry)
    return found.map(({ id }) => id)
  }

  #leave(from: Tracked, to: Tracked | undefined): void {
    this.counts[from.status] -= 1
    if (!isActive(from)) return
    // Of changes that are taken up together the one that takes the place may come first.
    const places = from.status === "running" ? this.#running : this.#next
    if (places.get(from.targetKey) === from.id) places.delete(from.targetKey)
    if (to === undefined || !isActive(to)) this.#schedule.remove(from.workspace, from.id)
  }

  #enter(to: Tracked, wasActive: boolean): void {
    this.counts[to.status] += 1
    if (!isActive(to)) return
    if (to.status === "running") this.#running.set(to.targetKey, to.id)
    else this.#next.set(to.targetKey, to.id)
    if (to.status === "waiting") {
      this.#byAge.add(to)
      if (to.expires) this.#expiring.add(to)
    }
    this.#schedule.put(to.workspace, to, wasActive)
  }

  #waitingByAge(): Heap<Tracked> {
    return new Heap<Tracked>(
      (a, b) => a.admittedAt - b.admittedAt,
      (entry) => !entry.past,
      () => this.counts.waiting
    )
  }
}
