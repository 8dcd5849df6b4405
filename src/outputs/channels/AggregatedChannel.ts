/**
 * Publishes a review as one text: on a pull request a comment that is updated, elsewhere one issue per branch whose problems are
 * added and removed in place, and which is closed with its last problem.
 */
import { Effect } from "effect"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { ChannelKind, ChannelContext } from "./Channel.ts"
import { issueChannel } from "../issues/IssueChannel.ts"
import { reviewChannel } from "../review/ReviewChannel.ts"

const asIssue = (channel: ChannelConfig): ChannelConfig => ({
  ...channel,
  issue_mode: "consolidated",
  assign_committer: false
})

export const aggregatedChannel = (limit: number): ChannelKind => {
  const comment = reviewChannel({
    limit,
    suggestions: "plain",
    hasHtml: true,
    commits: false,
    verdicts: false,
    editsReviews: false
  })
  const issue = issueChannel(limit)
  const issueReach = (context: ChannelContext): ChannelContext => ({ ...context, channel: asIssue(context.channel) })
  return {
    serves: issue.serves,
    plan: (input, channel, parts) =>
      comment.serves(input.change)
        ? comment.plan(input, channel, { ...parts, lineComments: false, summary: true })
        : issue.plan(input, asIssue(channel), parts),
    issueCode: (context) =>
      comment.serves(context.change) || issue.issueCode === undefined
        ? Effect.succeed([])
        : issue.issueCode(issueReach(context)),
    send: (context, publication, previous) =>
      publication.operation._tag === "Summary"
        ? comment.send(context, publication, previous)
        : issue.send(issueReach(context), publication, previous),
    find: (context, publication, previous) =>
      publication.operation._tag === "Summary"
        ? comment.find(context, publication, previous)
        : issue.find(issueReach(context), publication, previous)
  }
}
