/**
 * What a workspace's scheduler does next: a pure function of its active entries, its limits and the clock. States and
 * transitions: domain/Entry.ts.
 *
 * An entry is released when it is due, no other entry of its target is out (ready or running), and fewer than `concurrency`
 * entries of the workspace are out. Among those that could go, urgency decides (priority), then repositories take turns, then
 * the order of admission, so that one busy repository does not starve the others.
 */
import type { Entry } from "../domain/Entry.ts"
import { foldRepo } from "../domain/Change.ts"

export interface Plan {
  /** waiting -> ready, in this order. */
  readonly release: ReadonlyArray<string>
  /** When to plan again without being woken; undefined when only news can change anything. */
  readonly nextAt: number | undefined
}

export const plan = (entries: ReadonlyArray<Entry>, concurrency: number, now: number): Plan => {
  const out = entries.filter((entry) => entry.status === "ready" || entry.status === "running")
  const busyTargets = new Set(out.map((entry) => entry.targetKey))
  const waiting = entries.filter((entry) => entry.status === "waiting" && !busyTargets.has(entry.targetKey))
  const due = takeTurns(waiting.filter((entry) => entry.dueAt <= now))
  const later = waiting.filter((entry) => entry.dueAt > now).map((entry) => entry.dueAt)

  const release: Array<string> = []
  let free = concurrency - out.length
  for (const entry of due) {
    if (free <= 0) break
    if (busyTargets.has(entry.targetKey)) continue
    busyTargets.add(entry.targetKey)
    release.push(entry.id)
    free -= 1
  }
  return { release, nextAt: later.length === 0 ? undefined : Math.min(...later) }
}

/** By priority, then each repository's first entry, each repository's second, and so on. */
const takeTurns = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const inOrder = entries.toSorted(
    (a, b) => a.priority - b.priority || a.admittedAt - b.admittedAt || (a.id < b.id ? -1 : 1)
  )
  const turns = new Map<string, number>()
  const ranked = inOrder.map((entry) => {
    const key = `${entry.priority}:${foldRepo(entry.change.repo.fullName)}`
    const turn = turns.get(key) ?? 0
    turns.set(key, turn + 1)
    return { entry, turn }
  })
  return ranked
    .toSorted(
      (a, b) => a.entry.priority - b.entry.priority || a.turn - b.turn || a.entry.admittedAt - b.entry.admittedAt
    )
    .map(({ entry }) => entry)
}
