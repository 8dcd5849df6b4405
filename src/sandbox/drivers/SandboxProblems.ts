/** Reports workspaces whose agents may run without isolation. Logged at the start of the service, and shown by doctor. */
import type { ConfigIssue } from "../../config/ConfigIssue.ts"
import type { Snapshot } from "../../config/Snapshot.ts"

export const sandboxProblems = ({ workspaces }: Pick<Snapshot, "workspaces">): ReadonlyArray<ConfigIssue> =>
  [...workspaces.values()].flatMap(({ id, enabled, sandbox }): ReadonlyArray<ConfigIssue> =>
    enabled && sandbox.native.unconfined
      ? [
          {
            severity: "warning",
            path: "sandbox.native.unconfined",
            reason: { _tag: "WorkspaceUnconfined", workspace: id }
          }
        ]
      : []
  )
