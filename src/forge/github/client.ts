/**
 * Client for GitHub's REST API, and for its GraphQL API where REST lacks an operation; hosted and Enterprise Server, with a token
 * or as the installation of an app.
 */
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { ForgeClient } from "../Forge.ts"
import { access } from "./access.ts"
import { githubComments, githubStatus } from "./comments.ts"
import { githubCommitComments } from "./commitComments.ts"
import { githubContents } from "./contents.ts"
import { githubIssues } from "./issues.ts"
import { githubPermissions } from "./permissions.ts"
import { githubPulls } from "./pulls.ts"
import { makeResolveThread } from "./resolveThread.ts"
import { githubReviews } from "./reviews.ts"
import { githubThreads } from "./threads.ts"

export const githubClient = (profile: TriggerProfile): ForgeClient => {
  const host = access(profile)
  const { rest, graphql, self, gitAuthorization } = host
  return {
    self,
    gitAuthorization,
    ...githubPermissions(host, profile.settings.app !== undefined),
    ...githubPulls(rest),
    ...githubReviews(host),
    ...githubComments(host),
    setStatus: githubStatus(rest),
    ...githubIssues(rest, self),
    ...githubContents(rest),
    findAccount: undefined,
    commitComments: githubCommitComments(host),
    threads: githubThreads(rest, self, makeResolveThread(profile.name, graphql))
  }
}
