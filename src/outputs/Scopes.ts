/** The `scope` and `fp` of our markers: by what a comment is known to be the same one. Pure. */
import { foldRepo } from "../domain/Change.ts"
import type { Change } from "../domain/Change.ts"
import type { TargetKey } from "../domain/Keys.ts"
import { digest } from "./OperationId.ts"

/** Stands as `fp` in the marker of a managed summary. */
export const summaryFp = "summary"

/** Where an inline comment belongs: the same problem on another head is another comment. */
export const headScope = (head: string): string => head.slice(0, 16)

/**
 * Managed issues belong together by the branch or pull request that they are about and the channel, or the label that it scopes
 * them by. Reviews of one branch share them, whether a push, a schedule or a person started the review.
 */
export const issueScope = ({ repo, target }: Change, label: string): string => {
  const stream = target.kind === "pull_request" ? `pull:${target.number}` : `branch:${target.branch ?? ""}`
  return digest("issues", foldRepo(repo.fullName), stream, label).slice(0, 16)
}

/**
 * One managed summary per workspace, channel and pull request, whatever the trigger is called: it is found again after the trigger was
 * renamed and by `aicr review --publish`. `own` sets one apart from it.
 */
export const summaryScope = (workspace: string, channel: string, own: string): string =>
  digest("summary", workspace, channel, own).slice(0, 16)

/** Scope of summaries that earlier versions wrote. */
export const earlierSummaryScope = (targetKey: TargetKey, channel: string, own: string): string =>
  digest(targetKey, channel, own).slice(0, 16)
