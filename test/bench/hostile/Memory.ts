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

/** MiB that the tree of processes takes now. */
const residentMib = (root: number): number => {
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
  const owners = [...tree].filter((pid) => !isCopy(pid))
  const kib = owners.map((pid) => Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0))
  return kib.reduce((sum, one) => sum + one, 0) / 1024
}

/** Returns what ends the watch and gives the peak in MiB. */
export const watchTree = (root: number): (() => number) => {
  let peak = 0
  const timer = setInterval(() => (peak = Math.max(peak, residentMib(root))), everyMillis)
  return () => {
    clearInterval(timer)
    return peak
  }
}
