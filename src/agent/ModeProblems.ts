/** Reports workspaces whose agent mode is not in this build, before their first review fails. */
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import type { Snapshot } from "../config/Snapshot.ts"
import { modeProblem } from "./AgentModes.ts"

export const modeProblems = ({ workspaces }: Pick<Snapshot, "workspaces">): ReadonlyArray<ConfigIssue> =>
  [...workspaces.values()].flatMap(({ id, enabled, agent }): ReadonlyArray<ConfigIssue> => {
    const problem = enabled ? modeProblem(agent.default) : undefined
    return problem === undefined
      ? []
      : [{ severity: "warning", path: "agent.default", message: `workspace ${id}: ${problem}` }]
  })
