/**
 * Which waiting work has expired, by the time of its admission: `review.auto_commit.queued_timeout_hours` of its workspace, as the
 * configuration in force has it. So a change of configuration applies to what waits already.
 */
import { Duration } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"

/** Work that was admitted before has expired; undefined: it never does. */
export type Cutoff = number | undefined

export interface ExpiryCutoffs {
  readonly workspaces: ReadonlyMap<string, Cutoff>
  /** Of all workspaces that are not named. */
  readonly others: Cutoff
}

export const cutoffOf = ({ others, workspaces }: ExpiryCutoffs, workspace: string): Cutoff =>
  workspaces.has(workspace) ? workspaces.get(workspace) : others

/** The latest of all: nothing admitted after it has expired. */
export const latestCutoff = ({ others, workspaces }: ExpiryCutoffs): Cutoff => {
  const times = [others, ...workspaces.values()].filter((time) => time !== undefined)
  return times.length === 0 ? undefined : Math.max(...times)
}

type Limits = Pick<Snapshot, "document" | "workspaces">

/** Of a workspace that is not configured any more: the global limit. 0: none. */
export const queuedTimeoutHours = ({ document, workspaces }: Limits, workspace: string): number =>
  (workspaces.get(workspace)?.review ?? document.review).auto_commit.queued_timeout_hours

export const expiryCutoffs = (snapshot: Limits, now: number): ExpiryCutoffs => {
  const cutoff = (hours: number): Cutoff => (hours === 0 ? undefined : now - Duration.toMillis(Duration.hours(hours)))
  const common = snapshot.document.review.auto_commit.queued_timeout_hours
  const own = Array.from(snapshot.workspaces.keys(), (id) => [id, queuedTimeoutHours(snapshot, id)] as const)
  return {
    others: cutoff(common),
    workspaces: new Map(own.filter(([, hours]) => hours !== common).map(([id, hours]) => [id, cutoff(hours)]))
  }
}
