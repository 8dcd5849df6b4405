/** Whether a review that found nothing is published: the channel's policy, else the workspace's, else it is. Pure. */
import type { Channel as ChannelConfig, OutputsConfig } from "../config/schema/Outputs.ts"
import type { Analysis } from "../domain/Analysis.ts"

export const publishesClean = (outputs: OutputsConfig, channel: ChannelConfig, analysis: Analysis): boolean => {
  const action = channel.no_problems?.action ?? outputs.no_problems.action ?? "publish"
  if (action === "publish_if_summary") return analysis.summary.trim() !== ""
  return action === "publish"
}
