/**
 * The active entries of every workspace as decisions need them, in memory: what is out, what is due by repository and priority,
 * what is due later. A survey costs what it answers, whatever waits behind it. Where an entry stands:
 *
 * ```
 * put ──▶ later (by due time) ──survey, due──▶ lane (priority, repository; by admission) ──release──▶ out
 *  └──────────────due at once─────────────────────▲
 * ```
 * An entry that changes is put anew; the object it was before is `past`, for all heaps that hold it.
 */
import { isDue, isDueAtOnce } from "../domain/Entry.ts"
import { Heap } from "./Heap.ts"
import { byAdmission } from "./Plan.ts"
import type { Scheduled, Survey } from "./Plan.ts"

type Kept = Scheduled & { past: boolean }

interface Lane<E> {
  readonly priority: number
  readonly heap: Heap<E>
}

interface Workspace<E> {
  readonly waiting: Map<string, E>
  readonly out: Map<string, E>
  readonly later: Heap<E>
  readonly lanes: Map<string, Lane<E>>
}

export class Schedule<E extends Kept> {
  readonly #workspaces = new Map<string, Workspace<E>>()

  /** Takes up an active entry, or what it has become when it `wasActive`. */
  put(workspaceId: string, entry: E, wasActive: boolean): void {
    let workspace = this.#workspaces.get(workspaceId)
    if (workspace === undefined) {
      workspace = newWorkspace<E>()
      this.#workspaces.set(workspaceId, workspace)
    }
    if (wasActive) setPast(workspace, entry.id)
    if (entry.status === "waiting") {
      if (wasActive) workspace.out.delete(entry.id)
      workspace.waiting.set(entry.id, entry)
      if (isDueAtOnce(entry)) laneOf(workspace, entry).heap.add(entry)
      else workspace.later.add(entry)
    } else {
      workspace.waiting.delete(entry.id)
      workspace.out.set(entry.id, entry)
    }
  }

  /** Forgets an entry that has ended. */
  remove(workspaceId: string, entryId: string): void {
    const workspace = this.#workspaces.get(workspaceId)
    if (workspace === undefined) return
    setPast(workspace, entryId)
    workspace.waiting.delete(entryId)
    workspace.out.delete(entryId)
    if (workspace.waiting.size + workspace.out.size === 0) this.#workspaces.delete(workspaceId)
  }

  workspaces(): ReadonlyArray<string> {
    return [...this.#workspaces.keys()]
  }

  ids(workspaceId: string): ReadonlyArray<string> {
    const workspace = this.#workspaces.get(workspaceId)
    return workspace === undefined ? [] : [...workspace.out.keys(), ...workspace.waiting.keys()]
  }

  /** Entries that wait or are ready. */
  pending(workspaceId: string): number {
    const workspace = this.#workspaces.get(workspaceId)
    if (workspace === undefined) return 0
    let pending = workspace.waiting.size
    for (const { status } of workspace.out.values()) if (status === "ready") pending += 1
    return pending
  }

  survey(workspaceId: string, now: number, places: number): Omit<Survey, "paused"> {
    const workspace = this.#workspaces.get(workspaceId)
    if (workspace === undefined) return { out: [], due: [], nextAt: undefined }
    const { later, lanes } = workspace
    for (let next = later.first(); next !== undefined && next.dueAt <= now; next = later.first()) {
      later.take()
      laneOf(workspace, next).heap.add(next)
    }
    const out = [...workspace.out.values()]
    return { out, due: due(workspace, lanes, now, places - out.length), nextAt: later.first()?.dueAt }
  }
}

const setPast = <E extends Kept>({ out, waiting }: Workspace<E>, entryId: string): void => {
  const was = waiting.get(entryId) ?? out.get(entryId)
  if (was !== undefined) was.past = true
}

const due = <E extends Kept>(
  workspace: Workspace<E>,
  lanes: Workspace<E>["lanes"],
  now: number,
  places: number
): ReadonlyArray<E> => {
  const busy = new Set(Array.from(workspace.out.values(), ({ targetKey }) => targetKey))
  const found: Array<E> = []
  let priority = Number.NEGATIVE_INFINITY
  for (const [key, lane] of [...lanes].toSorted(([, a], [, b]) => a.priority - b.priority)) {
    if (lane.heap.first() === undefined) {
      lanes.delete(key)
      continue
    }
    if (lane.priority > priority && found.length >= places) break
    priority = lane.priority
    const taken: Array<E> = []
    let left = places
    while (left > 0) {
      const entry = lane.heap.take()
      if (entry === undefined) break
      if (!isDue(entry, now)) {
        // The clock was set back since it was due.
        workspace.later.add(entry)
        continue
      }
      taken.push(entry)
      if (busy.has(entry.targetKey)) continue
      found.push(entry)
      left -= 1
    }
    for (const entry of taken) lane.heap.add(entry)
  }
  return found
}

const newWorkspace = <E extends Kept>(): Workspace<E> => {
  const waiting = new Map<string, E>()
  const later = heapOf(waiting, (a, b) => a.dueAt - b.dueAt)
  return { waiting, out: new Map(), later, lanes: new Map() }
}

const laneOf = <E extends Kept>({ lanes, waiting }: Workspace<E>, { priority, repo }: E): Lane<E> => {
  const key = `${priority}:${repo}`
  const known = lanes.get(key)
  if (known !== undefined) return known
  const lane = { priority, heap: heapOf(waiting, byAdmission) }
  lanes.set(key, lane)
  return lane
}

/** Of those that wait. */
const heapOf = <E extends Kept>(waiting: ReadonlyMap<string, E>, order: (a: E, b: E) => number) =>
  new Heap<E>(
    order,
    (entry) => !entry.past,
    () => waiting.size
  )
