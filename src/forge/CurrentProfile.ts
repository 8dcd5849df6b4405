/** Finds the credential that the current configuration has for a host, in place of one that the host refuses. Pure. */
import type { Snapshot, TriggerProfile } from "../config/Snapshot.ts"
import { isForgeKind } from "../domain/Kinds.ts"

/** Returns the profile for the same host in the current configuration: the one of the same name, else any with a credential. */
export const currentProfile = (
  own: TriggerProfile | undefined,
  current: Snapshot,
  name: string
): TriggerProfile | undefined => {
  const isCandidate = (profile: TriggerProfile): boolean =>
    isForgeKind(profile.kind) &&
    profile !== own &&
    (profile.token !== undefined || profile.settings.app !== undefined) &&
    (own === undefined || (profile.kind === own.kind && profile.baseUrl === own.baseUrl))
  const ofName = current.triggers.get(name)
  return ofName !== undefined && isCandidate(ofName)
    ? ofName
    : own === undefined
      ? undefined
      : [...current.triggers.values()].find(isCandidate)
}
