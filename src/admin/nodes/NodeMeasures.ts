/** Measures of this process for the list of nodes. They need no timer of their own. */
import { Effect } from "effect"

const mebibyte = 1024 * 1024

/** `lagMillis`: by how much a timer of this process came late. */
export interface NodeMeasures {
  readonly memoryBytes: number
  readonly lagMillis: number
}

/** Waits, and returns the memory of the process and how late the wait ended. */
export const measureAfter = (waitMillis: number): Effect.Effect<NodeMeasures> =>
  Effect.suspend(() => {
    const began = performance.now()
    return Effect.map(Effect.sleep(waitMillis), () => ({
      memoryBytes: Math.round(process.memoryUsage.rss() / mebibyte) * mebibyte,
      lagMillis: Math.max(0, Math.round(performance.now() - began - waitMillis))
    }))
  })
