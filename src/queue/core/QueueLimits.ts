/** Limits on waiting entries. */
import type { Reason } from "../../domain/Reason.ts"
import { QueueError } from "../Queue.ts"

/** Maximum number of waiting entries (`queue.limits`); admitting more is refused as `full`. */
export interface QueueLimits {
  readonly perWorkspace: number
  readonly total: number
}

export const full = (why: Reason): QueueError => new QueueError({ reason: "full", why })
