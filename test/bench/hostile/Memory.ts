/** Maximum memory of a process and of all its children. */
import { readdirSync, readFileSync } from "node:fs"

const everyMillis = 50

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

/** MiB that a process and those it started take. */
export interface Resident {
  readonly total: number
  /** Share of the process itself. */
  readonly own: number
}

const nothing: Resident = { total: 0, own: 0 }

const residentMib = (root: number): Resident => {
  const parents = new Map<number, number>()
  for (const name of readdirSync("/proc")) {
    const parent = /\) \S (\d+)/.exec(/^\d+$/.test(name) ? read(`/proc/${name}/stat`) : "")?.[1]
    if (parent !== undefined) parents.set(Number(name), Number(parent))
  }
  const tree = new Set([root])
  for (let before = 0; before < tree.size;) {
    before = tree.size
    for (const [pid, parent] of parents) if (tree.has(parent)) tree.add(pid)
  }
  const command = (pid: number | undefined) => read(`/proc/${pid}/cmdline`)
  // Between fork and exec a child shows the pages of its parent as its own.
  const isCopy = (pid: number) => pid !== root && command(pid) === command(parents.get(pid))
  const resident = (pid: number) => Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024
  const owners = [...tree].filter((pid) => !isCopy(pid))
  return { total: owners.reduce((sum, pid) => sum + resident(pid), 0), own: resident(root) }
}

const larger = (one: Resident, other: Resident): Resident => (other.total > one.total ? other : one)

export interface MemoryWatch {
  /** Returns the peak since the last call, or since the start. */
  readonly phase: () => Resident
  /** Ends the watch and returns the peak of its whole time. */
  readonly end: () => Resident
}

export const watchTree = (root: number): MemoryWatch => {
  let phase = nothing
  let peak = nothing
  const take = () => {
    phase = larger(phase, residentMib(root))
    peak = larger(peak, phase)
  }
  const timer = setInterval(take, everyMillis)
  return {
    phase: () => {
      const taken = phase
      phase = nothing
      return taken
    },
    end: () => {
      clearInterval(timer)
      return peak
    }
  }
}
