/**
 * A review as one text: on a pull request a comment that is kept up to date, elsewhere one issue per branch that gains, keeps and
 * loses problems in place and is closed with its last one.
 */
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { ChannelKind, Reach } from "./Channel.ts"
import { issueChannel } from "./IssueChannel.ts"
import { reviewChannel } from "./ReviewChannel.ts"

const asIssue = (channel: ChannelConfig): ChannelConfig => ({
  ...channel,
  issue_mode: "consolidated",
  assign_committer: false
})

export const aggregatedChannel = (limit: number): ChannelKind => {
  const comment = reviewChannel({ limit, suggestions: "plain", commits: false, verdicts: false })
  const issue = issueChannel(limit)
  const issueReach = (reach: Reach): Reach => ({ ...reach, channel: asIssue(reach.channel) })
  return {
    serves: issue.serves,
    plan: (input, channel, parts) =>
      comment.serves(input.change)
        ? comment.plan(input, channel, { ...parts, lineComments: false, summary: true })
        : issue.plan(input, asIssue(channel), parts),
    send: (reach, publication, previous) =>
      publication.operation._tag === "Summary"
        ? comment.send(reach, publication, previous)
        : issue.send(issueReach(reach), publication, previous),
    find: (reach, publication) =>
      publication.operation._tag === "Summary"
        ? comment.find(reach, publication)
        : issue.find(issueReach(reach), publication)
  }
}
