/** A memory limit for a process, as a container has it: a cgroup of version 1 or 2 where this machine lets us make one. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Cgroup {
  readonly add: (pid: number) => void
  readonly peakBytes: () => number
  readonly remove: () => void
}

const layouts = [
  { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", peak: "memory.max_usage_in_bytes" },
  { root: "/sys/fs/cgroup", limit: "memory.max", peak: "memory.peak" }
]

/** Undefined where none can be made. */
export const makeCgroup = (bytes: number): Cgroup | undefined => {
  for (const { limit, peak, root } of layouts) {
    const folder = join(root, `aicr-bench-${process.pid}`)
    try {
      mkdirSync(folder)
      writeFileSync(join(folder, limit), String(bytes))
      if (!existsSync(join(folder, peak))) throw new Error("without a peak")
      return {
        add: (pid) => writeFileSync(join(folder, "cgroup.procs"), String(pid)),
        peakBytes: () => Number(readFileSync(join(folder, peak), "utf8")),
        remove: () => rmdirSync(folder)
      }
    } catch {
      if (existsSync(folder)) rmdirSync(folder)
    }
  }
  return undefined
}
