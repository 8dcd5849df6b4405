/** The operator's own base prompt, `prompt.base_system_prompt_file`: relative to the configuration, read for every review. */
import { readFile, stat } from "node:fs/promises"
import { resolve } from "node:path"
import { Effect } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { verbatimReason } from "../../domain/Reason.ts"
import { AgentError } from "../../agent/Agent.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"

const maxBytes = 262_144

/** Returns the text of the base prompt file, or undefined where none is configured or a named prompt takes precedence. */
export const readBasePrompt = (
  snapshot: Snapshot,
  workspace: Workspace
): Effect.Effect<string | undefined, AgentError> => {
  const { base_system_prompt_file: name, system_prompt } = workspace.prompt
  if (name === undefined || system_prompt !== undefined) return Effect.undefined
  const path = resolve(snapshot.baseDir, name)
  const unreadable = (reason: Reason) =>
    new AgentError({ reason: "failed", why: { _tag: "BasePromptUnreadable", name, workspace: workspace.id, reason } })
  return Effect.tryPromise({
    try: async () => {
      if ((await stat(path)).size > maxBytes) return undefined
      return await readFile(path, "utf8")
    },
    catch: (cause) => unreadable(verbatimReason(cause instanceof Error ? cause.message : String(cause)))
  }).pipe(
    Effect.flatMap((text) =>
      text === undefined ? Effect.fail(unreadable({ _tag: "FileTooLarge", count: maxBytes })) : Effect.succeed(text)
    )
  )
}
