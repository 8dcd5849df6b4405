/** The merge queue of the fake GitHub: it merges pull requests on a branch of its own and requests the checks of the result. */
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { git, setRef, tip } from "../../demo/DemoForgeGit.ts"
import type { DemoDelivery } from "../../demo/DemoForge.ts"
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import { getChecks } from "./FakeChecks.ts"
import { signGithub } from "./SignGithub.ts"
import type { GithubSigner } from "./SignGithub.ts"

export interface FakeGroup {
  /** The last pull request of the group. */
  readonly pull: DemoPull
  readonly branch: string
  /** The commit that they are merged with. */
  readonly base: string
  readonly head: string
}

const who = ["-c", "user.name=GitHub", "-c", "user.email=noreply@github.test"]

type MergeMethod = "merge" | "rebase" | "squash"

/** Returns the title of the commit that a pull request becomes. */
const titleOf = ({ number, title }: DemoPull, method: MergeMethod): string =>
  ({ merge: `Merge pull request #${number}`, rebase: title, squash: `${title} (#${number})` })[method]

const branchOf = ({ baseBranch, number }: DemoPull, base: string): string =>
  `gh-readonly-queue/${baseBranch}/pr-${number}-${base}`

/** Merges pull requests with `onto`, by default the tip of their target branch. Only `merge` has their own commits. */
export const makeGroup = async (
  pulls: ReadonlyArray<DemoPull>,
  onto?: string,
  method: MergeMethod = "merge"
): Promise<FakeGroup> => {
  const pull = pulls.at(-1)
  if (pull === undefined) throw new Error("a group has a pull request")
  const { directory } = pull.repository
  const base = onto ?? (await tip(directory, pull.baseBranch))
  if (base === undefined) throw new Error(`unknown branch ${pull.baseBranch}`)
  let head = base
  for (const one of pulls) {
    const [tree = ""] = (await git(directory, ["merge-tree", "--write-tree", head, one.head])).split("\n")
    const parents = method === "merge" ? ["-p", head, "-p", one.head] : ["-p", head]
    head = (await git(directory, [...who, "commit-tree", tree, ...parents, "-m", titleOf(one, method)])).trim()
    // Each pull request of a queue has a branch, which ends at its last commit.
    if (method === "rebase") await setRef(directory, `refs/heads/${branchOf(one, base)}`, head)
  }
  const branch = branchOf(pull, base)
  await setRef(directory, `refs/heads/${branch}`, head)
  return { pull, branch, base, head }
}

/** Removes the branch of a group. */
export const dropGroup = ({ branch, pull }: FakeGroup): Promise<void> =>
  rm(join(pull.repository.directory, "refs/heads", branch))

/** Returns the delivery about a group. `more`: fields in place of its own. */
export const reportGroup = (
  forge: GithubSigner,
  { base, branch, head, pull }: FakeGroup,
  action: "checks_requested" | "destroyed",
  more: object = {}
): DemoDelivery => {
  const merge_group = {
    head_sha: head,
    head_ref: `refs/heads/${branch}`,
    base_sha: base,
    base_ref: `refs/heads/${pull.baseBranch}`,
    head_commit: { id: head, message: "Merge" },
    ...more
  }
  return signGithub(forge, pull, "merge_group", "github-merge-queue[bot]", { action, merge_group })
}

/** Returns the delivery of the button that repeats the check of a group, pressed by a person. */
export const repeatGroup = (forge: GithubSigner, { branch, head, pull }: FakeGroup, login: string): DemoDelivery => {
  const check = getChecks(pull.repository).findLast((one) => one.head === head)
  if (check === undefined) throw new Error("the group has no check")
  const check_run = {
    name: check.name,
    head_sha: head,
    external_id: check.externalId,
    pull_requests: [],
    check_suite: { head_branch: branch, head_sha: head }
  }
  return signGithub(forge, pull, "check_run", login, { action: "rerequested", check_run })
}
