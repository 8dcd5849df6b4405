/**
 * Determines the commit from which the rules of a review are read: instructions, skills, the ignore file and owners. The author
 * of a change must not be able to choose it, so it is read from the host when the review runs.
 *
 * | target       | commit                                                                           |
 * |--------------|----------------------------------------------------------------------------------|
 * | pull request, merge group | tip of its base branch where the host protects it, else tip of the default branch |
 * | scheduled    | tip of the configured branch; none is configured: tip of the default branch      |
 * | others       | tip of the default branch                                                        |
 */
import { Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import { isMergeable } from "../domain/Kinds.ts"
import type { ForgeClient } from "./Forge.ts"
import type { ForgeError } from "./ForgeError.ts"

export interface RulesRevision {
  readonly commit: string
  /** Full ref for the fetch where the host does not serve commits by id. */
  readonly ref: string
}

/**
 * Returns undefined for a repository without a default branch, which has no rules. `defaultBranch`: its name, where the host named it with the
 * pull request. A pull request into the default branch needs one request then.
 */
export const rulesRevision = Effect.fnUntraced(function* (
  { baseRef, repo, target }: Pick<Change, "baseRef" | "repo" | "target">,
  client: Pick<ForgeClient, "newestCommit" | "branchTip">,
  defaultBranch?: string
): Effect.fn.Return<RulesRevision | undefined, ForgeError> {
  const { branch } = target
  if (target.kind === "scheduled" && branch !== undefined) {
    const commit = yield* client.newestCommit(repo, { branch })
    return commit === undefined ? undefined : { commit, ref: `refs/heads/${branch}` }
  }
  if (isMergeable(target.kind) && baseRef !== undefined) {
    const tip = yield* client.branchTip(repo, baseRef)
    if (tip?.isProtected === true) return { commit: tip.commit, ref: `refs/heads/${baseRef}` }
    if (tip !== undefined && (tip.isDefault ?? baseRef === defaultBranch)) return { commit: tip.commit, ref: "HEAD" }
  }
  const commit = yield* client.newestCommit(repo, {})
  return commit === undefined ? undefined : { commit, ref: "HEAD" }
})
