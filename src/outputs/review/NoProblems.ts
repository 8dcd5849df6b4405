/**
 * Determines how a review without visible problems is published: the channel's action, else the action for all channels, else
 * `review.skip_lgtm`. A review of which reports of the model could not be used is published whatever the action is. Pure.
 */
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { Workspace } from "../../config/Snapshot.ts"
import type { Analysis } from "../../domain/Analysis.ts"
import { hasUnreadText } from "../../domain/Coverage.ts"

type CleanPolicy =
  | "publish"
  /** Only texts of earlier reviews are updated; nothing new is written. */
  | "update"
  | "suppress"

export const cleanPolicy = (
  { outputs, review }: Pick<Workspace, "outputs" | "review">,
  channel: ChannelConfig,
  analysis: Analysis
): CleanPolicy => {
  // Otherwise a problem whose report could not be read, or that only maintainers got, would go unnoticed.
  if (analysis.coverage.unusable !== undefined || analysis.private !== undefined) return "publish"
  const action = channel.no_problems?.action ?? outputs.no_problems.action
  if (action === "publish_if_summary")
    return analysis.conclusion === undefined && analysis.summary.trim() === "" ? "suppress" : "publish"
  if (action !== undefined) return action
  // An incomplete review did not find the change clean, and one with folded findings shows them.
  const isIncomplete = analysis.partial === true || (review.unread !== "ignore" && hasUnreadText(analysis.coverage))
  return review.skip_lgtm && !isIncomplete && analysis.folded === undefined ? "update" : "publish"
}
