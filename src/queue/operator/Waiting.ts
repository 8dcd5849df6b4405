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
import { isDue } from "../../domain/Entry.ts"
import type { Entry } from "../../domain/Entry.ts"
import { countFreeSlots } from "../core/Plan.ts"
import type { QueueSnapshot, WorkspaceLimits } from "../core/Plan.ts"
import type { Pause } from "./QueueControl.ts"

export type WaitReason =
  | "paused"
  | "not_due"
  | "target_busy"
  | "workspace_full"
  | "turn"
  | "executor"
  | "running"
  | "cancelling"
  | "ended"

export interface WaitingPosition {
  readonly why: WaitReason
  /** Text for an operator. */
  readonly text: string
  /** Milliseconds since the epoch; undefined if no time is available. */
  readonly until: number | undefined
  /** Position among the entries of its workspace that may start now, from 1; undefined for others and beyond those that were read. */
  readonly turn?: number | undefined
  /** Time before which it cannot start; undefined if it may start now, or if only an event can change that. */
  readonly startsAfter?: number | undefined
  /** Entry that must end before it starts. */
  readonly behind?: string | undefined
}

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
const describeNode = ({ owner }: Entry): string => owner?.split("/")[0] ?? "a node"

export const toPosition = (entry: Entry, { now, pause, inFlight, limits, turns }: PositionContext): WaitingPosition => {
  const at = (why: WaitReason, text: string, until?: number): WaitingPosition => ({ why, text, until })
  const because = entry.reason === undefined ? "" : ` (${entry.reason})`
  switch (entry.status) {
    case "running":
      return entry.cancelRequested === undefined
        ? at(
            "running",
            `${entry.awaitsModel ? "waits for its model" : "runs"} on ${describeNode(entry)}`,
            entry.leaseUntil
          )
        : at("cancelling", `runs on ${describeNode(entry)} and is being cancelled: ${entry.cancelRequested}`)
    case "ready":
      return at("executor", "waits for a free executor")
    case "waiting": {
      if (pause !== undefined) return at("paused", `workspace ${entry.workspace} is paused: ${pause.reason}`)
      if (!isDue(entry, now)) {
        return { ...at("not_due", `is not due yet${because}`, entry.dueAt), startsAfter: entry.dueAt }
      }
      const busy = inFlight.find((other) => other.targetKey === entry.targetKey)
      if (busy !== undefined) {
        return { ...at("target_busy", `entry ${busy.id} of the same target is ${busy.status}`), behind: busy.id }
      }
      const position =
        countFreeSlots(inFlight, limits) === 0
          ? at("workspace_full", `all ${limits.computing} slots of workspace ${entry.workspace} are in use`)
          : at("turn", `is due${because}; others are first`)
      return { ...position, turn: turns?.get(entry.id) }
    }
    default:
      return at("ended", `${entry.status}${because}`)
  }
}
