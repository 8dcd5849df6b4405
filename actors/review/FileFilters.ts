/** Selects the files of a change that its triggers accept: by the trigger it came from or, if that has no filter, by the host's. Pure. */
import { pathsInBranch } from "../../src/admission/PathsInBranch.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import type { Change } from "../../src/domain/Change.ts"
import { hostTrigger } from "../../src/domain/Change.ts"

export const fileFilters = ({ triggers }: Pick<Snapshot, "triggers">, change: Change) => {
  const own = triggers.get(change.trigger)?.settings
  const host = triggers.get(hostTrigger(change))?.settings
  const watchPath = own?.watch_path ?? host?.watch_path ?? []
  return {
    watchPath:
      change.provider === "subversion" || change.provider === "perforce"
        ? pathsInBranch(watchPath, change.headRef ?? "")
        : watchPath,
    include: own?.include_cr_file ?? host?.include_cr_file ?? [],
    exclude: own?.exclude_cr_file ?? host?.exclude_cr_file ?? []
  }
}
