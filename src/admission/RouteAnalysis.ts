/** Applies the analysis that a rule of `outputs.routes` sets for reviews of a trigger or target kind. Pure. */
import type { Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import { matchRoute } from "../domain/MatchRoute.ts"

/** Returns the workspace with the mode and the model group of the first matching rule. They take precedence over all layers. */
export const withRouteAnalysis = (workspace: Workspace, change: Pick<Change, "trigger" | "target">): Workspace => {
  const { agent, model_chain: modelChain } = matchRoute(workspace.outputs.routes.rules, change)?.analysis ?? {}
  if (agent === undefined && modelChain === undefined) return workspace
  return {
    ...workspace,
    agent: agent === undefined ? workspace.agent : { ...workspace.agent, default: agent },
    modelChain: modelChain ?? workspace.modelChain
  }
}
