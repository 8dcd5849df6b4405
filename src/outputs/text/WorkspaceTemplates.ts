/**
 * Templates of a workspace: `templates/<channel>.<kind>.md.hbs` in its directory, where kind is `problem` or `summary`. They
 * apply when the channel names no template, before the built-in ones. Only regular files of bounded size are read.
 */
import { lstatSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Result } from "effect"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import type { Change } from "../../domain/Change.ts"

export interface OwnTemplates {
  readonly problem: string | undefined
  readonly summary: string | undefined
}

const maxBytes = 256 * 1024

/** Returns undefined if there is no usable file. */
export const readTemplate = (path: string): string | undefined => {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true && stats.size <= maxBytes ? readFileSync(path, "utf8") : undefined
}

/** Returns the directory of a change's workspace; undefined if its names yield no safe path. */
const findDirectory = (snapshot: Snapshot, workspace: Workspace, change: Change): string | undefined => {
  const names = change.repo.fullName.split("/")
  // Like in match rules, the branch of a pull request is its target branch.
  const branch = change.target.branch ?? change.baseRef
  const path = workspace.workPath(change.trigger, {
    vcs: change.provider,
    repo_ref: change.repo.fullName,
    repository: names.at(-1),
    namespace: names.slice(0, -1).join("/"),
    project_key: change.repo.hostId === undefined ? undefined : String(change.repo.hostId),
    branch,
    ref: branch === undefined ? undefined : `refs/heads/${branch}`
  })
  return Result.isSuccess(path) ? join(snapshot.workspacesRoot, path.success) : undefined
}

export const workspaceTemplates = (
  snapshot: Snapshot,
  workspace: Workspace,
  change: Change,
  channel: string
): OwnTemplates => {
  const directory = findDirectory(snapshot, workspace, change)
  // The channel's name must not contain path separators.
  if (directory === undefined || !/^[\w-][\w.-]*$/.test(channel)) return { problem: undefined, summary: undefined }
  const of = (part: keyof OwnTemplates) => readTemplate(join(directory, "templates", `${channel}.${part}.md.hbs`))
  return { problem: of("problem"), summary: of("summary") }
}
