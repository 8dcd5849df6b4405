/**
 * Priorities of commands by the processor time that they used recently: one that computes for long gets a lower priority, so that the
 * commands of a small review overtake those of a large one, and it does not take the processor from the service. A priority is only
 * lowered, because raising it needs a privilege.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { getPriority, setPriority } from "node:os"

/** Steps of every command below the event loop of the service. */
export const startSteps = 10

/** Recent processor time from which a command is so many steps below. */
const steps = [
  { millis: 600, below: 19 },
  { millis: 200, below: 15 }
] as const

const stepsFor = (recentMillis: number): number =>
  steps.find(({ millis }) => recentMillis >= millis)?.below ?? startSteps

const lowest = 19
const nicenessAt = (below: number): number => Math.min(lowest, getPriority() + below)

/** Processor time counts half after a second, so that a process that serves many small requests keeps its priority. */
const halfLifeMillis = 1_000

export interface UsedTime {
  /** Processor time since the start of the process. */
  readonly totalMillis: number
  readonly recentMillis: number
  /** Steps below the event loop of the service. */
  readonly below: number
}

export const unused: UsedTime = { totalMillis: 0, recentMillis: 0, below: startSteps }

/** Returns the use after a period in which the total reached `totalMillis`. The priority never rises. */
export const addUsedTime = (before: UsedTime, totalMillis: number, periodMillis: number): UsedTime => {
  const recentMillis =
    before.recentMillis * 0.5 ** (periodMillis / halfLifeMillis) + Math.max(0, totalMillis - before.totalMillis)
  return { totalMillis, recentMillis, below: Math.max(before.below, stepsFor(recentMillis)) }
}

/** Clock ticks of `/proc`, 100 per second on every architecture that node supports. */
const tickMillis = 10

/** Processor time of a process with its threads; undefined where it has ended, or without `/proc`. */
export const readUsedMillis = (pid: number): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    // The name of the program, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return (Number(fields[11]) + Number(fields[12])) * tickMillis
  } catch {
    return undefined
  }
}

/** The shell of a command lowers that of its group. */
export const setStartPriority = (pid: number): void => {
  try {
    setPriority(pid, nicenessAt(startSteps))
  } catch {
    // It has ended, or changing the priority is not permitted.
  }
}

/**
 * Lowers the priority of a process or a thread. Each session counts as one for the Linux scheduler where it groups them, whatever the
 * priorities within it, so the group of a command is lowered too. Returns false where that has to be tried again.
 */
export const lowerPriority = (pid: number, below: number): boolean => {
  try {
    const niceness = nicenessAt(below)
    setPriority(pid, niceness)
    writeFileSync(`/proc/${pid}/autogroup`, String(niceness))
    return true
  } catch (cause) {
    // Linux limits how often a group changes. Otherwise: the process has ended, changes are not permitted, or there are no groups.
    return !(cause instanceof Error && "code" in cause && cause.code === "EAGAIN")
  }
}
