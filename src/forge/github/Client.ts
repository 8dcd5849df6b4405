/**
 * Client for GitHub's REST API, and for its GraphQL API where REST lacks an operation; hosted and Enterprise Server, with a token
 * or as the installation of an app.
 */
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { ForgeClient } from "../Forge.ts"
import type { HostTraffic } from "../HostTraffic.ts"
import { actionsCi } from "../hosts/ActionsCi.ts"
import { access } from "./Access.ts"
import { githubChanges } from "./Changes.ts"
import { githubVerdict } from "./CheckRuns.ts"
import { githubComments } from "./Comments.ts"
import { githubCommitComments } from "./CommitComments.ts"
import { githubContents } from "./Contents.ts"
import { githubConversations } from "./Conversations.ts"
import { githubIssues } from "./Issues.ts"
import { githubPermissions } from "./Permissions.ts"
import { githubHooks } from "./Webhooks.ts"
import { githubMergeQueue } from "./MergeQueue.ts"
import { githubPulls } from "./Pulls.ts"
import { makeReviewThreadState } from "./ResolveThread.ts"
import { githubReviews } from "./Reviews.ts"
import { githubThreads } from "./Threads.ts"
import { pages } from "./Facts.ts"

export const githubClient = (profile: TriggerProfile, traffic: HostTraffic["Service"]): ForgeClient => {
  const host = access(profile, traffic)
  const { rest, graphql, self, gitAuthorization } = host
  const comments = githubComments(host)
  const commitComments = githubCommitComments(host)
  const threads = makeReviewThreadState(profile.name, graphql)
  return {
    self,
    gitAuthorization,
    ...githubPermissions(host, profile.settings.app !== undefined),
    hooks: githubHooks(host),
    ...githubPulls(rest),
    mergeQueue: githubMergeQueue(rest),
    ...githubReviews(host),
    ...comments,
    setStatus: githubVerdict(host),
    changes: githubChanges(host),
    ...githubIssues(rest, host.account),
    ...githubContents(rest),
    ci: actionsCi(rest, pages),
    findAccount: undefined,
    commitComments,
    conversations: githubConversations(host, { ...comments, commitComments, threads }),
    threads: githubThreads(rest, self, threads)
  }
}
