/**
 * Determines which waiting work has expired, by the time of its admission: `review.auto_commit.queued_timeout_hours` of its workspace in
 * the current configuration. A change of the configuration also applies to waiting work.
 */
import { Duration } from "effect"
import type { Snapshot } from "../config/Snapshot.ts"

/** Work admitted before this time has expired; undefined: it never expires. */
export type Cutoff = number | undefined

export interface ExpiryCutoffs {
  readonly workspaces: ReadonlyMap<string, Cutoff>
  /** Cutoff of all workspaces that are not listed. */
  readonly others: Cutoff
}

export const findCutoff = ({ others, workspaces }: ExpiryCutoffs, workspace: string): Cutoff =>
  workspaces.has(workspace) ? workspaces.get(workspace) : others

type Limits = Pick<Snapshot, "document" | "workspaces">

/** Returns the limit of a workspace, or the global one if it is no longer configured. 0: none. */
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
