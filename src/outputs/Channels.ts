/** The channel kinds that reviews are published through, as rows. */
import type { ForgeKind } from "../domain/Kinds.ts"
import type { ChannelKind } from "./Channel.ts"
import { aggregatedChannel } from "./AggregatedChannel.ts"
import { botChannel } from "./BotChannel.ts"
import { issueChannel } from "./IssueChannel.ts"
import { reviewChannel } from "./ReviewChannel.ts"

/** `bodyLimit`: the longest comment a host takes, in characters. */
export const channelTable = (bodyLimit: (kind: ForgeKind) => number) =>
  ({
    // Gitea and Forgejo have no commit button for suggestions; the block shows the change all the same.
    // Nor have they comments on commits; reviews of pushes go to issues there.
    gitea_pr_review: reviewChannel({ limit: bodyLimit("gitea"), suggestions: "lines", commits: false, verdicts: true }),
    github_pr_review: reviewChannel({
      limit: bodyLimit("github"),
      suggestions: "lines",
      commits: true,
      verdicts: true
    }),
    gitlab_mr_review: reviewChannel({
      limit: bodyLimit("gitlab"),
      suggestions: "offsets",
      commits: true,
      verdicts: false
    }),
    gitea_issue: aggregatedChannel(bodyLimit("gitea")),
    github_issue: aggregatedChannel(bodyLimit("github")),
    gitea_problem_issue: issueChannel(bodyLimit("gitea")),
    github_problem_issue: issueChannel(bodyLimit("github")),
    gitlab_problem_issue: issueChannel(bodyLimit("gitlab")),
    feishu_bot: botChannel("feishu_bot"),
    wecom_bot: botChannel("wecom_bot")
  }) satisfies Record<string, ChannelKind>
