/**
 * The active entries of every workspace as decisions need them, in memory: what is out, what is due by repository and priority,
 * what is due later. A survey costs what it answers, whatever waits behind it. Where an entry stands:
 *
 * ```
 * put ──▶ later (by due time) ──survey, due──▶ lane (priority, repository; by admission) ──release──▶ out
 *  └──────────────due at once─────────────────────▲
 * ```
 * An entry that changes is put anew; the object that it was before is `past`, for all heaps that hold it.
 */
import { isDue, isDueAtOnce } from "../domain/Entry.ts"
import { Heap } from "./Heap.ts"
import { byAdmission } from "./Plan.ts"
import type { Scheduled, Survey } from "./Plan.ts"

type Kept = Scheduled & { readonly workspace: string; readonly past: boolean }

interface Lane<E> {
  readonly priority: number
  readonly heap: Heap<E>
}

interface Workspace<E> {
  /** How many wait. */
  waiting: number
  readonly out: Map<string, E>
  readonly later: Heap<E>
  readonly lanes: Map<string, Lane<E>>
}

export class Schedule<E extends Kept> {
  readonly #workspaces = new Map<string, Workspace<E>>()

  /** An active entry comes (`from` undefined), becomes another, or ends (`to` undefined); `from`, which is past, is what it was put as. */
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
      workspace.out.set(entry.id, entry)
      return
    }
    workspace.waiting += 1
    if (isDueAtOnce(entry)) laneOf(workspace, entry).heap.add(entry)
    else workspace.later.add(entry)
  }

  #remove(entry: E, forGood: boolean): void {
    const workspace = this.#workspaces.get(entry.workspace)
    if (workspace === undefined) return
    if (entry.status === "waiting") workspace.waiting -= 1
    else workspace.out.delete(entry.id)
    if (forGood && workspace.waiting + workspace.out.size === 0) this.#workspaces.delete(entry.workspace)
  }

  workspaces(): ReadonlyArray<string> {
    return [...this.#workspaces.keys()]
  }

  ids(workspaceId: string): ReadonlyArray<string> {
    const workspace = this.#workspaces.get(workspaceId)
    if (workspace === undefined) return []
    const { later, lanes, out } = workspace
    const waiting = [later, ...Array.from(lanes.values(), ({ heap }) => heap)].flatMap((heap) => heap.current())
    return [...out.keys(), ...waiting.map(({ id }) => id)]
  }

  /** Entries that wait or are ready. */
  pending(workspaceId: string): number {
    const workspace = this.#workspaces.get(workspaceId)
    if (workspace === undefined) return 0
    let pending = workspace.waiting
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
  const workspace: Workspace<E> = {
    waiting: 0,
    out: new Map(),
    later: heapOf<E>(
      (a, b) => a.dueAt - b.dueAt,
      () => workspace.waiting
    ),
    lanes: new Map()
  }
  return workspace
}

const laneOf = <E extends Kept>(workspace: Workspace<E>, { priority, repo }: E): Lane<E> => {
  const key = `${priority}:${repo}`
  const known = workspace.lanes.get(key)
  if (known !== undefined) return known
  const lane = { priority, heap: heapOf<E>(byAdmission, () => workspace.waiting) }
  workspace.lanes.set(key, lane)
  return lane
}

const heapOf = <E extends Kept>(order: (a: E, b: E) => number, waiting: () => number) =>
  new Heap<E>(order, (entry) => !entry.past, waiting)
