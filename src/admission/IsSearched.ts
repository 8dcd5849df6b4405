/** Decides for which triggers missed changes are searched for (actors/catchup/CatchUp.ts). Pure. */
import type { TriggerProfile } from "../config/Snapshot.ts"
import { isForgeKind } from "../domain/Kinds.ts"

/** Returns whether a trigger has a git host and a credential for it, or a server of Perforce or Subversion. */
export const isSearched = ({
  enabled,
  kind,
  settings,
  token
}: Pick<TriggerProfile, "enabled" | "kind" | "settings" | "token">): boolean =>
  enabled && (isForgeKind(kind) ? token !== undefined || settings.app !== undefined : hasServer(kind))

const hasServer = (kind: TriggerProfile["kind"]): boolean => kind === "perforce" || kind === "subversion"
