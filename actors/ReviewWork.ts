/** What one review works with: the claimed entry, its lease, and the configuration that the entry was admitted under. */
import { Effect } from "effect"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import type { Snapshot, TriggerProfile, Workspace } from "../src/config/Snapshot.ts"
import { hostTrigger } from "../src/domain/Change.ts"
import type { Entry } from "../src/domain/Entry.ts"
import type { Lease } from "../src/queue/Queue.ts"

export interface ReviewWork {
  readonly entry: Entry
  readonly lease: Lease
  readonly snapshot: Snapshot
  readonly workspace: Workspace
  readonly profile: TriggerProfile
  /** An earlier run reviewed the same head: what this one publishes is something else. */
  readonly isRepeated?: boolean
}

/** A text names what the configuration no longer has. */
export const loadWork = Effect.fnUntraced(function* (entry: Entry, lease: Lease) {
  const snapshot = yield* (yield* ConfigStore).pinned(entry.configHash)
  const workspace = snapshot.workspaces.get(entry.workspace)
  if (workspace === undefined) return `workspace ${entry.workspace} is no longer configured`
  const profile = snapshot.triggers.get(hostTrigger(entry.change))
  if (profile === undefined) return `trigger ${hostTrigger(entry.change)} is no longer configured`
  return { entry, lease, snapshot, workspace, profile } satisfies ReviewWork
})
