/** Maximum memory of a process and of all its children. */
import { readFileSync } from "node:fs"

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

/** Reads only the processes of the tree: a scan of all processes of a busy machine would take the time that is measured. */
const residentMib = (root: number): Resident => {
  const parents = new Map([[root, 0]])
  for (const pid of parents.keys()) {
    for (const child of read(`/proc/${pid}/task/${pid}/children`).split(" ")) {
      if (child !== "") parents.set(Number(child), pid)
    }
  }
  const command = (pid: number | undefined) => read(`/proc/${pid}/cmdline`)
  // Between fork and exec a child shows the pages of its parent as its own.
  const isCopy = (pid: number) => pid !== root && command(pid) === command(parents.get(pid))
  const resident = (pid: number) => Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) / 1024
  const owners = [...parents.keys()].filter((pid) => !isCopy(pid))
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
