/**
 * Finds the token that a node lacks for work of another configuration than its own: during a rollout the variables of a new trigger are set
 * on the nodes that have the new configuration only.
 */
import { Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"

/** Returns the name of the unset variable; undefined for the node's own configuration, whose problems are reported by its host. */
export const missingToken = Effect.fnUntraced(function* ({ hash, triggers }: Snapshot, trigger: string) {
  const profile = triggers.get(trigger)
  if (profile === undefined || profile.token !== undefined) return undefined
  return hash === (yield* ConfigStore).current().hash ? undefined : profile.settings.token_env
})
