/** The operator's own base prompt, `prompt.base_system_prompt_file`: relative to the configuration, read for every review. */
import { readFile, stat } from "node:fs/promises"
import { resolve } from "node:path"
import { Effect } from "effect"
import { AgentError } from "../agent/Agent.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"

const maxBytes = 262_144

/** Returns the text of the base prompt file, or undefined where none is configured or a named prompt takes precedence. */
export const readBasePrompt = (
  snapshot: Snapshot,
  workspace: Workspace
): Effect.Effect<string | undefined, AgentError> => {
  const { base_system_prompt_file: name, system_prompt } = workspace.prompt
  if (name === undefined || system_prompt !== undefined) return Effect.undefined
  const path = resolve(snapshot.baseDir, name)
  return Effect.tryPromise({
    try: async () => {
      if ((await stat(path)).size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`)
      return await readFile(path, "utf8")
    },
    catch: (cause) =>
      new AgentError({
        reason: "failed",
        message: `prompt.base_system_prompt_file ${name} of workspace ${workspace.id} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  })
}
