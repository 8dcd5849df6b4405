/**
 * Ends commands whose processes together exceed their memory limit, and lowers the priority of those that compute for long. The kernel
 * bounds each process (`Program`); the sums over a command with its helpers, and over all commands of this node, are computed here from
 * `/proc`. Systems without it have no such limit.
 */
import { readFileSync } from "node:fs"
import { addUsedTime, lowerPriority, readUsedMillis, unused } from "./ProcessPriority.ts"
import type { UsedTime } from "./ProcessPriority.ts"
import type { ProcessLimits } from "./ProcessLimits.ts"
import type { ProcessLimit } from "./ProcessLimit.ts"

interface Watched {
  readonly limits: ProcessLimits
  readonly end: (limit: ProcessLimit) => void
  /** Processor time of its processes. */
  used: ReadonlyMap<number, UsedTime>
  bytes: number
  /** Number of scans in a row in which its processes used no processor time. */
  idleScans: number
  /** Number of scans since it was read. */
  skipped: number
}

const everyMillis = 200
/** Scans after which an idle command, whose memory cannot grow, is read once in as many scans. */
const idleAfter = 5
/** Maximum number of processes per command; git starts three or four. */
const maxProcesses = 64
const watched = new Map<number, Watched>()
let timer: NodeJS.Timeout | undefined

/** Watches the process group of `pid`. Returns a function that stops watching. */
export const watchProcesses = (
  pid: number,
  limits: ProcessLimits,
  end: (limit: ProcessLimit) => void
): (() => void) => {
  watched.set(pid, { limits, end, used: new Map(), bytes: 0, idleScans: 0, skipped: 0 })
  timer ??= setInterval(sample, everyMillis).unref()
  return () => {
    watched.delete(pid)
    if (watched.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

const sample = (): void => {
  for (const [pid, command] of watched) {
    if (command.idleScans >= idleAfter && ++command.skipped < idleAfter) continue
    readCommand(pid, command)
  }
  for (const { limit, command } of overLimit([...watched.values()])) command.end(limit)
}

const readCommand = (pid: number, command: Watched): void => {
  const pids = listProcesses(pid)
  const period = everyMillis * Math.max(1, command.skipped)
  const used = new Map(pids.map((one) => [one, updatePriority(one, command.used.get(one) ?? unused, period)]))
  const isIdle = pids.every((one) => used.get(one)?.totalMillis === command.used.get(one)?.totalMillis)
  command.idleScans = isIdle ? command.idleScans + 1 : 0
  command.skipped = 0
  command.used = used
  command.bytes = sumMemory(pids)
}

const updatePriority = (pid: number, before: UsedTime, periodMillis: number): UsedTime => {
  const total = readUsedMillis(pid)
  if (total === undefined) return before
  const after = addUsedTime(before, total, periodMillis)
  const isLowered = after.below === before.below || lowerPriority(pid, after.below)
  return isLowered ? after : { ...after, below: before.below }
}

/**
 * Selects the commands to end, with the reason: each over its own limit, then the largest ones while the sum exceeds the common
 * limit.
 */
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

/** Returns a process with its children, and theirs. */
const listProcesses = (leader: number): ReadonlyArray<number> => {
  const pids = [leader]
  for (const pid of pids) {
    for (const child of read(`/proc/${pid}/task/${pid}/children`).split(" ")) {
      if (child !== "" && pids.length < maxProcesses) pids.push(Number(child))
    }
  }
  return pids
}

/** Returns the private memory of processes, without mapped files. */
const sumMemory = (pids: ReadonlyArray<number>): number =>
  pids.reduce(
    (sum, pid) => sum + Number(/^RssAnon:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024,
    0
  )

const read = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch {
    // The process has ended.
    return ""
  }
}
