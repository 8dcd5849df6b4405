/** Limits on waiting entries. */
import { QueueError } from "../Queue.ts"

/** Maximum number of waiting entries (`queue.limits`); admitting more is refused as `full`. */
export interface QueueLimits {
  readonly perWorkspace: number
  readonly total: number
}

export const full = (what: string, limit: number, setting: string): QueueError =>
  new QueueError({
    reason: "full",
    message: `the queue is full: ${limit} reviews of ${what} wait. Try again later, or raise ${setting}`
  })
