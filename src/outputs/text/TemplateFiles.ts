/**
 * Reports invalid templates in the directories of workspaces, for the start of the service and `aicr doctor`. The directory of a
 * workspace may depend on the repository under review, so every `templates` folder below `workspaces.root` is checked.
 */
import { readdirSync } from "node:fs"
import type { Dirent } from "node:fs"
import { join } from "node:path"
import { Result } from "effect"
import type { ConfigIssue } from "../../config/ConfigIssue.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import { describeFailure, renderSource, startCheck, uncheckedIssue } from "../SampleRender.ts"
import { readTemplate } from "./WorkspaceTemplates.ts"

/**
 * `work_path` has a few segments; templates in deeper folders, or beyond this number of folders, are checked when they are used.
 */
const maxDepth = 6
const maxFolders = 2000

const parts = ["problem", "summary"] as const

const foldersIn = (path: string): ReadonlyArray<Dirent> => {
  try {
    return readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  } catch {
    // A missing or unreadable folder provides no templates.
    return []
  }
}

/** Lists the `templates` folders below a folder. */
const templateFolders = (root: string): ReadonlyArray<string> => {
  const folders: Array<string> = []
  let level = [root]
  for (let depth = 0, seen = 0; depth < maxDepth && level.length > 0; depth++) {
    const next: Array<string> = []
    for (const path of level) {
      if (seen++ >= maxFolders) return folders
      for (const { name } of foldersIn(path)) {
        if (name === "templates") folders.push(join(path, name))
        else if (!name.startsWith(".")) next.push(join(path, name))
      }
    }
    level = next
  }
  return folders
}

export const templateFileProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> => {
  const channels = new Map<string, { readonly channel: ChannelConfig; readonly workspace: Workspace }>()
  for (const workspace of snapshot.workspaces.values()) {
    for (const channel of workspace.outputs.channels) channels.set(channel.name, { channel, workspace })
  }
  const hasTime = startCheck()
  let unchecked = 0
  const issues = templateFolders(snapshot.workspacesRoot).flatMap((folder) =>
    [...channels.values()].flatMap(({ channel, workspace }) =>
      parts.flatMap((part): ReadonlyArray<ConfigIssue> => {
        const path = join(folder, `${channel.name}.${part}.md.hbs`)
        const source = readTemplate(path)
        if (source === undefined) return []
        if (!hasTime()) {
          unchecked++
          return []
        }
        const rendered = renderSource(workspace, channel, part, source)
        return Result.isSuccess(rendered) ? [] : [describeFailure(path, rendered.failure, part, channel.name)]
      })
    )
  )
  return [...issues, ...(unchecked === 0 ? [] : [uncheckedIssue(snapshot.workspacesRoot, unchecked)])]
}
