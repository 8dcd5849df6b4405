/** Commits of a branch as hosts list them. */
import { git } from "../../demo/DemoForgeGit.ts"
import type { DemoRepository } from "../../demo/DemoForgeState.ts"

/** Returns at most thirty commits, until a time in ISO 8601; undefined when the branch does not exist. */
export const newestFirst = async (
  { defaultBranch, directory }: DemoRepository,
  ref: string | null,
  until: string | null
): Promise<ReadonlyArray<string> | undefined> => {
  const bound = until === null ? [] : [`--until=${until}`]
  const args = ["log", "--max-count=30", "--format=%H", ...bound, "--end-of-options", ref ?? defaultBranch]
  const log = await git(directory, args).catch(() => undefined)
  return log?.split("\n").filter((line) => line !== "")
}

export const readTip = async ({ directory }: DemoRepository, branch: string): Promise<string | undefined> => {
  const id = await git(directory, ["rev-parse", "--verify", `refs/heads/${branch}^{commit}`]).catch(() => "")
  return id.trim() || undefined
}
