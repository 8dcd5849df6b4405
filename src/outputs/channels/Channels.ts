/** Table of the channel kinds. */
import type { ForgeKind } from "../../domain/Kinds.ts"
import type { ChannelKind } from "./Channel.ts"
import { aggregatedChannel } from "./AggregatedChannel.ts"
import { appChannel } from "../chat/AppChannel.ts"
import { botChannel } from "../chat/BotChannel.ts"
import { issueChannel } from "../issues/IssueChannel.ts"
import { reviewChannel } from "../review/ReviewChannel.ts"
import { swarmChannel } from "../swarm/SwarmChannel.ts"

/** Builds the table. `bodyLimit` returns the maximum length of a comment at a host, in characters. */
export const channelTable = (bodyLimit: (kind: ForgeKind) => number) =>
  ({
    // Gitea and Forgejo have no button that commits a suggestion, so it is a small diff. They have no comments on commits either, so
    // reviews of pushes go to issues.
    gitea_pr_review: reviewChannel({
      limit: bodyLimit("gitea"),
      suggestions: "diff",
      hasHtml: true,
      commits: false,
      verdicts: true,
      editsReviews: false
    }),
    github_pr_review: reviewChannel({
      limit: bodyLimit("github"),
      suggestions: "lines",
      hasHtml: true,
      commits: true,
      verdicts: true,
      editsReviews: true
    }),
    gitlab_mr_review: reviewChannel({
      limit: bodyLimit("gitlab"),
      suggestions: "offsets",
      hasHtml: true,
      commits: true,
      verdicts: false,
      editsReviews: false
    }),
    gitea_issue: aggregatedChannel(bodyLimit("gitea")),
    github_issue: aggregatedChannel(bodyLimit("github")),
    gitea_problem_issue: issueChannel(bodyLimit("gitea")),
    github_problem_issue: issueChannel(bodyLimit("github")),
    gitlab_problem_issue: issueChannel(bodyLimit("gitlab")),
    feishu_bot: botChannel("feishu_bot"),
    wecom_bot: botChannel("wecom_bot"),
    feishu_app: appChannel("feishu_app"),
    wecom_app: appChannel("wecom_app"),
    slack_webhook: appChannel("slack_webhook"),
    slack_app: appChannel("slack_app"),
    teams_webhook: appChannel("teams_webhook"),
    webhook: appChannel("webhook"),
    email: appChannel("email"),
    p4_swarm: swarmChannel()
  }) satisfies Record<string, ChannelKind>
