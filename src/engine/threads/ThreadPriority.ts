/**
 * Priority of a thread that analyses changes: below the service's own thread (`LowerPriority.js`), and lower the longer it computes for
 * one change, so that the analysis of a small change overtakes that of a large one. The thread sets it itself, between two functions.
 * On Linux a priority belongs to one thread; no effect elsewhere.
 */
import { getPriority, setPriority } from "node:os"

const lowest = 19

/** Processor time for one change from which a priority applies, and how far it is below that of the process. */
const steps = [
  { millis: 1_000, below: 19 },
  { millis: 250, below: 12 },
  { millis: 0, below: 5 }
] as const

const threadNiceness = (usedMillis: number, own: number): number =>
  Math.min(lowest, own + (steps.find(({ millis }) => usedMillis >= millis)?.below ?? 0))

const usedMillis = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

export interface ThreadPriority {
  /** Lowers the priority of the calling thread when it has computed for long. */
  readonly update: () => void
  /** Begins another change. Returns false where the thread keeps a low priority, because raising it is not permitted. */
  readonly restart: () => boolean
}

export const makeThreadPriority = (): ThreadPriority => {
  const own = getPriority(process.pid)
  let startedAt = usedMillis()
  let current = threadNiceness(0, own)
  const set = (niceness: number): boolean => {
    if (process.platform !== "linux" || niceness === current) return true
    try {
      // 0: the calling thread.
      setPriority(0, niceness)
      current = niceness
      return true
    } catch {
      return false
    }
  }
  return {
    update: () => void set(threadNiceness(usedMillis() - startedAt, own)),
    restart: () => {
      startedAt = usedMillis()
      return set(threadNiceness(0, own))
    }
  }
}
