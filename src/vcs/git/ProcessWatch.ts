/**
 * Ends git commands whose processes together take more memory than they may. The kernel bounds each process by itself (`GitProcess`);
 * what a command and its helpers take together, and all commands of this node, is counted here, from `/proc`. On systems without it
 * nothing is counted.
 */
import { readFileSync } from "node:fs"
import type { ProcessLimits } from "../ProcessLimits.ts"
import type { ProcessLimit } from "./ProcessLimit.ts"

interface Watched {
  readonly limits: ProcessLimits
  readonly end: (limit: ProcessLimit) => void
}

const everyMillis = 200
/** A command of git starts three or four. */
const maxProcesses = 64
const watched = new Map<number, Watched>()
let timer: NodeJS.Timeout | undefined

/** `pid` leads the processes of a command. Returns what stops watching. */
export const watchProcesses = (
  pid: number,
  limits: ProcessLimits,
  end: (limit: ProcessLimit) => void
): (() => void) => {
  watched.set(pid, { limits, end })
  timer ??= setInterval(look, everyMillis).unref()
  return () => {
    watched.delete(pid)
    if (watched.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

const look = (): void => {
  const sizes = [...watched].map(([pid, command]) => ({ ...command, bytes: memoryOf(pid) }))
  for (const { limit, command } of overLimit(sizes)) command.end(limit)
}

/** Those that are to end, and why: each over its own limit, then the largest while all are over the limit for all. */
export const overLimit = <A extends { readonly bytes: number; readonly limits: ProcessLimits }>(
  commands: ReadonlyArray<A>
): ReadonlyArray<{ readonly limit: ProcessLimit; readonly command: A }> => {
  const ended = commands
    .filter(({ bytes, limits }) => bytes > limits.memoryBytes)
    .map((command) => ({ limit: "memory" as ProcessLimit, command }))
  const left = commands.filter(({ bytes, limits }) => bytes <= limits.memoryBytes).toSorted((a, b) => b.bytes - a.bytes)
  let total = left.reduce((sum, { bytes }) => sum + bytes, 0)
  for (const command of left) {
    if (total <= command.limits.totalMemoryBytes) break
    ended.push({ limit: "total_memory", command })
    total -= command.bytes
  }
  return ended
}

/** Memory of its own that a process and those it started take: files that are mapped do not count. */
const memoryOf = (leader: number): number => {
  let bytes = 0
  const pids = [leader]
  for (const pid of pids) {
    bytes += Number(/^RssAnon:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024
    for (const child of read(`/proc/${pid}/task/${pid}/children`).split(" ")) {
      if (child !== "" && pids.length < maxProcesses) pids.push(Number(child))
    }
  }
  return bytes
}

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    // The process has ended.
    return ""
  }
}
