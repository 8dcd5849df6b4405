/** Decides for which triggers missed changes are searched for (actors/catchup/CatchUp.ts). Pure. */
import type { TriggerProfile } from "../config/Snapshot.ts"
import { isForgeKind } from "../domain/Kinds.ts"

/**
 * Returns whether a trigger has a git host and names a credential for it, which this node may be without, or has a server of Perforce or
 * Subversion.
 */
export const isSearched = ({
  enabled,
  kind,
  settings: { app, token, token_env }
}: Pick<TriggerProfile, "enabled" | "kind" | "settings">): boolean =>
  enabled && (isForgeKind(kind) ? [app, token, token_env].some((one) => one !== undefined) : hasServer(kind))

const hasServer = (kind: TriggerProfile["kind"]): boolean => kind === "perforce" || kind === "subversion"
