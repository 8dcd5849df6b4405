/** Loads the input of a review: the claimed entry, its lease, and the configuration under which the entry was admitted. */
import { Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot, TriggerProfile, Workspace } from "../../src/config/Snapshot.ts"
import { hostTrigger } from "../../src/domain/Change.ts"
import type { Entry } from "../../src/domain/Entry.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { Lease } from "../../src/queue/Queue.ts"
import type { ReviewRequest } from "./ReviewRequest.ts"
import { missingToken } from "./MissingToken.ts"

export interface ReviewWork {
  readonly entry: Entry
  readonly lease: Lease
  readonly snapshot: Snapshot
  readonly workspace: Workspace
  readonly profile: TriggerProfile
  /** Leaves the slot of the node before a model is used; it may be repeated. Absent for replies, which keep their slot. */
  readonly beforeModels?: Effect.Effect<void> | undefined
  /** True if an earlier run reviewed the same head, so that the publications of this run need ids of their own. */
  readonly isRepeated?: boolean
  /** The comment that requested the review. */
  readonly request?: ReviewRequest | undefined
}

/**
 * Names what is missing in a configuration. `isPinned`: it is missing on every node, because the configuration is the one under which the
 * entry was admitted.
 */
export interface MissingWork {
  readonly _tag: "Missing"
  readonly reason: Reason
  readonly isPinned: boolean
}

/** Returns what is missing if the configuration does not contain the workspace or the trigger of the entry. */
export const loadWork = Effect.fnUntraced(function* (entry: Entry, lease: Lease) {
  const snapshot = yield* (yield* ConfigStore).pinned(entry.configHash)
  const isPinned = snapshot.hash === entry.configHash
  const missing = (reason: Reason): MissingWork => ({ _tag: "Missing", reason, isPinned })
  const workspace = snapshot.workspaces.get(entry.workspace)
  if (workspace === undefined) return missing({ _tag: "WorkspaceUnconfigured", workspace: entry.workspace })
  const trigger = hostTrigger(entry.change)
  const profile = snapshot.triggers.get(trigger)
  if (profile === undefined) return missing({ _tag: "TriggerUnconfigured", trigger })
  const variable = yield* missingToken(snapshot, profile.name)
  if (variable !== undefined) return { ...missing({ _tag: "VariableUnset", variable }), isPinned: false }
  return { entry, lease, snapshot, workspace, profile } satisfies ReviewWork
})

/** Returns whether a review that fails now is not attempted again. */
export const isLastAttempt = ({ entry, snapshot }: Pick<ReviewWork, "entry" | "snapshot">): boolean =>
  entry.attempts + 1 >= snapshot.document.queue.retry.attempts
