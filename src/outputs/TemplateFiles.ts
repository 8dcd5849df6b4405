/**
 * Templates in the directories of workspaces that do not work, for the start of the service and doctor: a directory of a workspace may
 * depend on the repository under review, so every `templates` folder below `workspaces.root` is looked at.
 */
import { readdirSync } from "node:fs"
import type { Dirent } from "node:fs"
import { join } from "node:path"
import { Result } from "effect"
import type { ConfigIssue } from "../config/ConfigIssue.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import { renderSource } from "./SampleRender.ts"
import { readTemplate } from "./WorkspaceTemplates.ts"

/** `work_path` has a few segments; what is deeper, or beyond this many folders, is found when it is used. */
const deepest = 6
const mostFolders = 2000

const parts = ["problem", "summary"] as const

const foldersIn = (path: string): ReadonlyArray<Dirent> => {
  try {
    return readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  } catch {
    // It is not there yet, or not readable: then no template of it is used either.
    return []
  }
}

/** `templates` folders below a folder. */
const templateFolders = (root: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  let level = [root]
  for (let depth = 0, seen = 0; depth < deepest && level.length > 0; depth++) {
    const next: Array<string> = []
    for (const path of level) {
      if (seen++ >= mostFolders) return found
      for (const { name } of foldersIn(path)) {
        if (name === "templates") found.push(join(path, name))
        else if (!name.startsWith(".")) next.push(join(path, name))
      }
    }
    level = next
  }
  return found
}

export const templateFileProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> => {
  const channels = new Map<string, { readonly channel: ChannelConfig; readonly workspace: Workspace }>()
  for (const workspace of snapshot.workspaces.values()) {
    for (const channel of workspace.outputs.channels) channels.set(channel.name, { channel, workspace })
  }
  return templateFolders(snapshot.workspacesRoot).flatMap((folder) =>
    [...channels.values()].flatMap(({ channel, workspace }) =>
      parts.flatMap((part): ReadonlyArray<ConfigIssue> => {
        const path = join(folder, `${channel.name}.${part}.md.hbs`)
        const source = readTemplate(path)
        const rendered = source === undefined ? Result.succeed("") : renderSource(workspace, channel, part, source)
        if (Result.isSuccess(rendered)) return []
        const message = `does not work as the ${part} of channel ${channel.name}: ${rendered.failure}; the built-in one is used`
        return [{ severity: "warning", path, message }]
      })
    )
  )
}
