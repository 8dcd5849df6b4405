/** Puts the thread that calls it behind the event loop of the service. JavaScript, as the threads that load it first are. */
import { readlinkSync } from "node:fs"
import { getPriority, setPriority } from "node:os"

/** Below the priority that the process was started with. */
const steps = 5
const lowest = 19

/**
 * Lowers the priority of this thread. On Linux a priority belongs to one thread, whose id is at the end of this link.
 * No effect elsewhere.
 */
export const lowerPriority = () => {
  try {
    const [, thread] = /^\d+\/task\/(\d+)$/.exec(readlinkSync("/proc/thread-self")) ?? []
    if (thread !== undefined) setPriority(Number(thread), Math.min(lowest, getPriority(process.pid) + steps))
  } catch {
    // Not Linux, or not allowed.
  }
}
