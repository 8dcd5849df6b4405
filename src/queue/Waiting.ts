/**
 * Why an entry stands where it stands, and until when: what `queue list` and the dashboard show. The same order of reasons as
 * `plan` goes by (Plan.ts), so that what is named is what really holds it back.
 *
 * | status  | holds it back, first that applies                                                      | until        |
 * |---------|----------------------------------------------------------------------------------------|--------------|
 * | waiting | its workspace is paused                                                                | resumed      |
 * | waiting | it is not due: a delay, a window, a backoff (`reason`)                                 | `dueAt`      |
 * | waiting | another entry of its target is out                                                     | that ends    |
 * | waiting | all places of the workspace are taken                                                  | one is free  |
 * | waiting | others are first                                                                       | its turn     |
 * | ready   | its ticket waits for a free executor                                                   | one is free  |
 * | running | nothing; its worker is to end it, if somebody asked for that                           | lease's end  |
 */
import { isDue } from "../domain/Entry.ts"
import type { Entry } from "../domain/Entry.ts"
import type { Survey } from "./Plan.ts"
import type { Pause } from "./QueueControl.ts"

export type Why =
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
  readonly why: Why
  /** In words for an operator. */
  readonly text: string
  /** Milliseconds since the epoch; undefined where no time is known. */
  readonly until: number | undefined
}

export interface Around {
  readonly now: number
  readonly pause: Pause | undefined
  /** What is out in its workspace. */
  readonly out: Survey["out"]
  /** Of its workspace: queue.workers.per_workspace_concurrency. */
  readonly concurrency: number
}

export const standing = (entry: Entry, { now, pause, out, concurrency }: Around): WaitingPosition => {
  const at = (why: Why, text: string, until?: number): WaitingPosition => ({ why, text, until })
  const because = entry.reason === undefined ? "" : ` (${entry.reason})`
  switch (entry.status) {
    case "running":
      return entry.cancelRequested === undefined
        ? at("running", `runs on ${entry.owner ?? "a node"}`, entry.leaseUntil)
        : at("cancelling", `runs on ${entry.owner ?? "a node"} and is being ended: ${entry.cancelRequested}`)
    case "ready":
      return at("executor", "waits for a free executor")
    case "waiting": {
      if (pause !== undefined) return at("paused", `workspace ${entry.workspace} is paused: ${pause.reason}`)
      if (!isDue(entry, now)) return at("not_due", `is not due yet${because}`, entry.dueAt)
      const busy = out.find((other) => other.targetKey === entry.targetKey)
      if (busy !== undefined) return at("target_busy", `entry ${busy.id} of the same target is ${busy.status}`)
      return out.length >= concurrency
        ? at("workspace_full", `all ${concurrency} places of workspace ${entry.workspace} are taken`)
        : at("turn", `is due${because}; others are first`)
    }
    default:
      return at("ended", `${entry.status}${because}`)
  }
}
