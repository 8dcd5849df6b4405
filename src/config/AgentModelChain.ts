/** Determines which model group an agent mode calls. Pure. */
import type { AgentConfig } from "./schema/Agent.ts"
import type { Workspace } from "./Snapshot.ts"

/** Returns the group with which the mode signs in (`agent.auth`), else that of the workspace; undefined if there is none. */
export const agentModelChain = (
  { agent, modelChain }: Pick<Workspace, "agent" | "modelChain">,
  mode: AgentConfig["default"]
): string | undefined => {
  const groups: Readonly<Partial<Record<AgentConfig["default"], string | undefined>>> = agent.auth
  return groups[mode] ?? modelChain
}
