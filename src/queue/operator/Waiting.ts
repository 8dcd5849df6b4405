/**
 * Explains why an entry is in its state, and until when, for `queue list` and the dashboard. The order of reasons is that of `plan`
 * (Plan.ts), so that the reported reason is the actual one.
 *
 * | status  | reason, first that applies                                | until       |
 * |---------|-----------------------------------------------------------|-------------|
 * | waiting | its workspace is paused                                   | resumed     |
 * | waiting | it is not due: a delay, a window, a backoff (`reason`)    | `dueAt`     |
 * | waiting | another entry of its target is in flight                  | that ends   |
 * | waiting | the workspace has no free slot                            | one is free |
 * | waiting | others are first                                          | its turn    |
 * | ready   | its ticket waits for a free executor                      | one is free |
 * | running | it runs; its worker ends it if that was requested         | lease's end |
 */
import { isDue, isReply } from "../../domain/Entry.ts"
import type { Entry } from "../../domain/Entry.ts"
import type { Reason } from "../../domain/Reason.ts"
import { countFreeSlots } from "../Plan.ts"
import type { QueueSnapshot, WorkspaceLimits } from "../Plan.ts"
import type { Pause, WaitingPosition } from "./QueueControl.ts"

export interface PositionContext {
  readonly now: number
  readonly pause: Pause | undefined
  /** Entries in flight in its workspace. */
  readonly inFlight: QueueSnapshot["inFlight"]
  readonly limits: WorkspaceLimits
  /** Position of each entry that may start now, by id. */
  readonly turns?: ReadonlyMap<string, number> | undefined
}

/** Returns the name of the node: the part of the owner that precedes the id of its process. */
const nodeOf = ({ owner }: Entry): string | undefined => owner?.split("/")[0]

export const toPosition = (entry: Entry, { now, pause, inFlight, limits, turns }: PositionContext): WaitingPosition => {
  const at = (why: Reason, until?: number): WaitingPosition => ({ why, until })
  const { cancelRequested, dueAt, leaseUntil, reason, status, workspace } = entry
  switch (status) {
    case "running": {
      const node = nodeOf(entry)
      if (cancelRequested !== undefined) return at({ _tag: "RunsUntilCancelled", node, reason: cancelRequested })
      return at({ _tag: entry.awaitsModel ? "AwaitsModel" : "Runs", node }, leaseUntil)
    }
    case "ready":
      return at({ _tag: "AwaitsExecutor" })
    case "waiting": {
      if (pause !== undefined) return at({ _tag: "WorkspacePaused", workspace, reason: pause.reason })
      if (!isDue(entry, now)) return { ...at({ _tag: "NotDue", reason }, dueAt), startsAfter: dueAt }
      const busy = inFlight.find((other) => other.targetKey === entry.targetKey)
      if (busy !== undefined)
        return { ...at({ _tag: "TargetBusy", entry: busy.id, status: busy.status }), behind: busy.id }
      const free = countFreeSlots(inFlight, limits)
      const [places, count] = isReply(entry) ? [free.replies, limits.replies] : [free.reviews, limits.computing]
      const position =
        places === 0 ? at({ _tag: "WorkspaceFull", workspace, count }) : at({ _tag: "AwaitsTurn", reason })
      return { ...position, position: turns?.get(entry.id) }
    }
    default:
      return at({ _tag: "Ended", status, reason })
  }
}
