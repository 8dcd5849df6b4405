/**
 * In-memory index of the active entries of every workspace for scheduling decisions: entries in flight, eligible ones by repository and
 * priority, and later ones. The cost of a snapshot depends on its result, not on the number of waiting entries. Positions of an entry:
 *
 * ```
 * put ──▶ later (by due time) ──snapshot, due──▶ lane (priority, repository; by admission) ──promote──▶ in flight
 *  └──────────────already due────────────────────▲
 * ```
 * An entry that changes is put again; the previous object is `isStale`, for all heaps that hold it.
 */
import { isDue, isReply, wasDueAtAdmission } from "../../domain/Entry.ts"
import { Heap } from "./Heap.ts"
import { byAdmission } from "../Plan.ts"
import type { Scheduled, QueueSnapshot } from "../Plan.ts"

type Kept = Scheduled & { readonly workspace: string; readonly isStale: boolean }

/** Heaps by repository. */
type Lanes<E> = Map<string, Heap<E>>

interface Workspace<E> {
  /** Number of waiting entries. */
  waiting: number
  readonly inFlight: Map<string, E>
  readonly later: Heap<E>
  /** Lanes by priority. */
  readonly lanes: Map<number, Lanes<E>>
}

export class ReviewSchedule<E extends Kept> {
  readonly #workspaces = new Map<string, Workspace<E>>()

  /** Adds (`from` undefined), replaces, or removes (`to` undefined) an active entry; `from` is the object that was put before. */
  apply(from: E | undefined, to: E | undefined): void {
    if (from !== undefined) this.#remove(from, to === undefined)
    if (to !== undefined) this.#put(to)
  }

  #put(entry: E): void {
    let workspace = this.#workspaces.get(entry.workspace)
    if (workspace === undefined) {
      workspace = newWorkspace<E>()
      this.#workspaces.set(entry.workspace, workspace)
    }
    if (entry.status !== "waiting") {
      workspace.inFlight.set(entry.id, entry)
      return
    }
    workspace.waiting += 1
    if (wasDueAtAdmission(entry)) laneOf(workspace, entry).add(entry)
    else workspace.later.add(entry)
  }

  #remove(entry: E, forGood: boolean): void {
    const workspace = this.#workspaces.get(entry.workspace)
    if (workspace === undefined) return
    if (entry.status === "waiting") workspace.waiting -= 1
    else workspace.inFlight.delete(entry.id)
    if (forGood && workspace.waiting + workspace.inFlight.size === 0) this.#workspaces.delete(entry.workspace)
  }

  workspaces(): ReadonlyArray<string> {
    return [...this.#workspaces.keys()]
  }

  ids(workspaceId: string): ReadonlyArray<string> {
    const workspace = this.#workspaces.get(workspaceId)
    if (workspace === undefined) return []
    const { later, lanes, inFlight } = workspace
    const heaps = [later, ...Array.from(lanes.values(), (byRepo) => [...byRepo.values()]).flat()]
    const waiting = heaps.flatMap((heap) => heap.current())
    return [...inFlight.keys(), ...waiting.map(({ id }) => id)]
  }

  /** Returns the number of waiting entries. */
  waiting(workspaceId: string): number {
    return this.#workspaces.get(workspaceId)?.waiting ?? 0
  }

  /** Returns the number of waiting and ready entries. */
  pending(workspaceId: string): number {
    const workspace = this.#workspaces.get(workspaceId)
    if (workspace === undefined) return 0
    let pending = workspace.waiting
    for (const { status } of workspace.inFlight.values()) if (status === "ready") pending += 1
    return pending
  }

  snapshot(workspaceId: string, now: number, places: number): Omit<QueueSnapshot, "paused"> {
    const workspace = this.#workspaces.get(workspaceId)
    if (workspace === undefined) return { inFlight: [], eligible: [], nextAt: undefined }
    const { later, lanes } = workspace
    for (let next = later.first(); next !== undefined && next.dueAt <= now; next = later.first()) {
      later.take()
      laneOf(workspace, next).add(next)
    }
    const inFlight = [...workspace.inFlight.values()]
    return {
      inFlight,
      eligible: listEligible(workspace, lanes, now, places - inFlight.length),
      nextAt: later.first()?.dueAt
    }
  }
}

const listEligible = <E extends Kept>(
  workspace: Workspace<E>,
  lanes: Workspace<E>["lanes"],
  now: number,
  places: number
): ReadonlyArray<E> => {
  const busy = new Set(Array.from(workspace.inFlight.values(), ({ targetKey }) => targetKey))
  const found: Array<E> = []
  // Replies have places of their own.
  let replies = 0
  for (const [priority, byRepo] of [...lanes].toSorted(([a], [b]) => a - b)) {
    if (found.length - replies >= places) break
    for (const [repo, lane] of byRepo) {
      if (lane.first() === undefined) byRepo.delete(repo)
      else found.push(...firstDue(workspace, lane, busy, now, places))
    }
    if (isReply({ priority })) replies = found.length
    if (byRepo.size === 0) lanes.delete(priority)
  }
  return found
}

/** Returns the first entries of a lane whose target has none in flight, at most the given number, without removing them. */
const firstDue = <E extends Kept>(
  workspace: Workspace<E>,
  lane: Heap<E>,
  busy: ReadonlySet<string>,
  now: number,
  places: number
): ReadonlyArray<E> => {
  const taken: Array<E> = []
  const free: Array<E> = []
  while (free.length < places) {
    const entry = lane.take()
    if (entry === undefined) break
    if (!isDue(entry, now)) {
      // The clock was set back since it was due.
      workspace.later.add(entry)
      continue
    }
    taken.push(entry)
    if (!busy.has(entry.targetKey)) free.push(entry)
  }
  for (const entry of taken) lane.add(entry)
  return free
}

const newWorkspace = <E extends Kept>(): Workspace<E> => {
  const workspace: Workspace<E> = {
    waiting: 0,
    inFlight: new Map(),
    later: heapOf<E>(
      (a, b) => a.dueAt - b.dueAt,
      () => workspace.waiting
    ),
    lanes: new Map()
  }
  return workspace
}

const laneOf = <E extends Kept>(workspace: Workspace<E>, { priority, repo }: E): Heap<E> => {
  let byRepo = workspace.lanes.get(priority)
  if (byRepo === undefined) workspace.lanes.set(priority, (byRepo = new Map()))
  let lane = byRepo.get(repo)
  if (lane === undefined) byRepo.set(repo, (lane = heapOf<E>(byAdmission, () => workspace.waiting)))
  return lane
}

const heapOf = <E extends Kept>(order: (a: E, b: E) => number, waiting: () => number) =>
  new Heap<E>(order, (entry) => !entry.isStale, waiting)
