/**
 * The processes of a native sandbox, found in `/proc`: the descendants of its first process, and processes that carry its mark in their
 * environment, which also those do that left their parent and their session.
 */
import { readdirSync, readFileSync } from "node:fs"

/** Name of the variable with the mark. Only programs without isolation have it. */
export const markVariable = "AICR_SANDBOX"

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    // The process has ended, or belongs to another user.
    return ""
  }
}

const listProcesses = (): ReadonlyArray<number> => {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0)
  } catch {
    // A system without /proc.
    return []
  }
}

/** Fields of `/proc/<pid>/stat` after the name, which may contain spaces and parentheses. */
const statOf = (pid: number): ReadonlyArray<string> => {
  const text = read(`/proc/${pid}/stat`)
  return text.slice(text.lastIndexOf(")") + 2).split(" ")
}

/** Whether the process runs. A process that has ended and was not waited for does not. */
export const isRunning = (pid: number): boolean => !["", "Z", "X"].includes(statOf(pid)[0] ?? "")

/** Returns `root` and its descendants, as far as they run. */
export const listDescendants = (root: number): ReadonlyArray<number> => {
  const children = new Map<number, Array<number>>()
  for (const pid of listProcesses()) {
    const [state = "", parent] = statOf(pid)
    if (parent === undefined || state === "Z") continue
    const siblings = children.get(Number(parent))
    if (siblings === undefined) children.set(Number(parent), [pid])
    else siblings.push(pid)
  }
  const tree = isRunning(root) ? [root] : []
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

/** Returns the processes that were started with this mark in their environment. */
export const listMarked = (mark: string): ReadonlyArray<number> => {
  const entry = `${markVariable}=${mark}`
  return listProcesses().filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(entry) && isRunning(pid))
}

/** Returns the private memory and the number of processes and threads. */
export const measureProcesses = (pids: ReadonlyArray<number>): { readonly bytes: number; readonly threads: number } => {
  let bytes = 0
  let threads = 0
  for (const pid of pids) {
    const status = read(`/proc/${pid}/status`)
    bytes += Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
    threads += Number(/^Threads:\s+(\d+)$/m.exec(status)?.[1] ?? 0)
  }
  return { bytes, threads }
}

export const killProcesses = (pids: ReadonlyArray<number>): void => {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It has ended, which is the goal.
    }
  }
}
