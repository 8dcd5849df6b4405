/** The outputs for workspaces of one configuration: workspaces that tests make by hand belong to none. */
import type { Snapshot, Workspace } from "../../src/config/Snapshot.ts"
import { Outputs } from "../../src/outputs/Outputs.ts"

export const inSnapshot = (outputs: Outputs["Service"], snapshot: Snapshot): Outputs["Service"] => {
  const within = (workspace: Workspace): Workspace => ({ ...workspace, snapshot: () => snapshot })
  return Outputs.of({
    mayDismiss: (workspace, change, username) => outputs.mayDismiss(within(workspace), change, username),
    dismiss: (workspace, change, dismissal) => outputs.dismiss(within(workspace), change, dismissal),
    mark: (workspace, change, finding) => outputs.mark(within(workspace), change, finding),
    anyFor: (workspace, change) => outputs.anyFor(within(workspace), change),
    plan: (input) => outputs.plan({ ...input, workspace: within(input.workspace) }),
    status: (input, state, description) =>
      outputs.status({ ...input, workspace: within(input.workspace) }, state, description),
    issueCode: (workspace, change) => outputs.issueCode(within(workspace), change),
    reactions: (workspace, change, review) => outputs.reactions(within(workspace), change, review),
    send: (workspace, ...rest) => outputs.send(within(workspace), ...rest),
    find: (workspace, ...rest) => outputs.find(within(workspace), ...rest)
  })
}
