/**
 * Templates of a workspace: `templates/<channel>.<kind>.md.hbs` in its directory, where kind is `problem` or `summary`. They stand
 * between what a channel names and the built-in ones. Regular files of bounded size only; anything else is not there.
 */
import { lstatSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Result } from "effect"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"

export interface OwnTemplates {
  readonly problem: string | undefined
  readonly summary: string | undefined
}

const largest = 256 * 1024

/** Undefined where there is none. */
export const readTemplate = (path: string): string | undefined => {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size <= largest ? readFileSync(path, "utf8") : undefined
}

/** The directory of a change's workspace; undefined where its names give no safe path. */
const directoryOf = (snapshot: Snapshot, workspace: Workspace, change: Change): string | undefined => {
  const names = change.repo.fullName.split("/")
  // As match rules see it: the branch of a pull request is the one it is to be merged into.
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
  const directory = directoryOf(snapshot, workspace, change)
  // A channel's name is a word of the configuration, not a path.
  if (directory === undefined || !/^[\w-][\w.-]*$/.test(channel)) return { problem: undefined, summary: undefined }
  const of = (part: keyof OwnTemplates) => readTemplate(join(directory, "templates", `${channel}.${part}.md.hbs`))
  return { problem: of("problem"), summary: of("summary") }
}
