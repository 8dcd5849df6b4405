/** Values of `scope` and `fp` in markers, which identify a comment. Pure. */
import { foldRepo } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import { digest } from "./OperationId.ts"

/** Value of `fp` in the marker of a managed summary. */
export const summaryFp = "summary"

/** Scope of an inline comment: the same problem on another head is another comment. */
export const headScope = (head: string): string => head.slice(0, 16)

/**
 * Scope of managed issues: the branch or pull request, and the channel or its marker label. All reviews of one branch share them,
 * whether a push, a schedule or a person requested the review.
 */
export const issueScope = ({ repo, target }: Change, label: string): string => {
  const stream = target.kind === "pull_request" ? `pull:${target.number}` : `branch:${target.branch ?? ""}`
  return digest("issues", foldRepo(repo.fullName), stream, label).slice(0, 16)
}

/**
 * Scope of the managed summary: one per workspace, channel and pull request. It does not contain the trigger name, so that the
 * summary is found after a trigger has been renamed and by `aicr review --publish`. `own` distinguishes another summary from it.
 */
export const summaryScope = (workspace: string, channel: string, own: string): string =>
  digest("summary", workspace, channel, own).slice(0, 16)
