/** Agent modes that a configuration uses, and the first point of their check: whether their sandbox and their program exist. */
import { Effect } from "effect"
import type { SandboxConfig } from "../../config/schema/Agent.ts"
import type { Workspace } from "../../config/Snapshot.ts"
import { Sandboxes } from "../../sandbox/Sandbox.ts"
import { AgentPrograms } from "../clis/AgentPrograms.ts"
import type { CliMode } from "../clis/AgentPrograms.ts"
import { listCliModes } from "../clis/FieldWarnings.ts"

/** A mode in a sandbox, with the ids of the workspaces that use it. */
export interface UsedAgent {
  readonly mode: CliMode
  readonly sandbox: SandboxConfig
  readonly workspaces: ReadonlyArray<string>
}

/** Returns the modes of enabled workspaces. Workspaces with the same mode and the same sandbox share one item. */
export const listUsedAgents = (workspaces: Iterable<Workspace>): ReadonlyArray<UsedAgent> => {
  const used = new Map<string, UsedAgent>()
  for (const workspace of workspaces) {
    if (!workspace.enabled) continue
    for (const mode of listCliModes(workspace)) {
      const { id, sandbox } = workspace
      const key = JSON.stringify([mode, sandbox])
      used.set(key, { mode, sandbox, workspaces: [...(used.get(key)?.workspaces ?? []), id] })
    }
  }
  return [...used.values()]
}

/** Returns the kind of sandbox and the program of a mode, or fails with what to install. */
export const findAgent = Effect.fnUntraced(function* (mode: CliMode, sandbox: SandboxConfig) {
  const kind = yield* (yield* Sandboxes).select(sandbox)
  return { kind, program: yield* (yield* AgentPrograms).find(mode, kind, sandbox) }
})
