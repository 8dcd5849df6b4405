/**
 * The processes of a native sandbox, found in `/proc`: the descendants of its first process, and processes that carry its mark in their
 * environment, which also those do that left their parent and their session.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs"

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

const listNames = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
  } catch {
    // A system without /proc, or a process that has ended.
    return []
  }
}

const listProcesses = (): ReadonlyArray<number> =>
  listNames("/proc")
    .map(Number)
    .filter((pid) => pid > 0)

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

/** A shared mapping of memory without a file: anonymous, of a `memfd`, or of System V; with its part of that memory and its inode. */
const sharedMapping = /^([0-9a-f]+)-([0-9a-f]+) ..?.?s ([0-9a-f]+) \S+ (\d+) +\/(?:dev\/zero|memfd:|SYSV)/gm

/** Size of the buffer of a pipe. A program can enlarge few of them. */
const pipeBytes = 65_536

/** Returns the bytes of each shared memory and pipe that a process has mapped or open, by name; pages that it does not touch now count too. */
const sharedOf = (pid: number): ReadonlyArray<readonly [name: string, bytes: number]> => {
  const mapped = [...read(`/proc/${pid}/maps`).matchAll(sharedMapping)].map(
    ([, from = "", to = "", offset = "", inode = ""]) =>
      [inode, parseInt(offset, 16) + parseInt(to, 16) - parseInt(from, 16)] as const
  )
  const open = listNames(`/proc/${pid}/fd`).flatMap((name): ReadonlyArray<readonly [string, number]> => {
    const path = `/proc/${pid}/fd/${name}`
    try {
      const target = readlinkSync(path)
      if (target.startsWith("pipe:")) return [[target, pipeBytes]]
      if (!target.startsWith("/memfd:")) return []
      const { blocks, ino } = statSync(path)
      return [[`${ino}`, blocks * blockBytes]]
    } catch {
      // It was closed.
      return []
    }
  })
  return [...mapped, ...open]
}

const blockBytes = 512
const firstNumber = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? 0)

/** Returns the private and shared memory, each shared memory once, with the tables of pages, and the number of processes and threads. */
export const measureProcesses = (pids: ReadonlyArray<number>): { readonly bytes: number; readonly threads: number } => {
  let bytes = 0
  let threads = 0
  const shared = new Map<string, number>()
  for (const pid of pids) {
    const status = read(`/proc/${pid}/status`)
    for (const part of [/^RssAnon:\s+(\d+)/m, /^VmSwap:\s+(\d+)/m, /^VmPTE:\s+(\d+)/m])
      bytes += firstNumber(status, part) * 1024
    threads += firstNumber(status, /^Threads:\s+(\d+)/m)
    for (const [name, size] of sharedOf(pid)) shared.set(name, Math.max(size, shared.get(name) ?? 0))
  }
  for (const size of shared.values()) bytes += size
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
