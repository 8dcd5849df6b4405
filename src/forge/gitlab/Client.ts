/** Client for GitLab's REST API. A merge request is addressed by its `iid` within its project. */
import { Effect } from "effect"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { ForgeClient } from "../Forge.ts"
import { makeRest } from "../Http.ts"
import { ownAccount } from "../OwnAccount.ts"
import { apiUrl, basicHeader, dispatcher, tokenCredential, writeGap } from "../Profile.ts"
import { findAccount } from "./Accounts.ts"
import { gitlabCi } from "./Ci.ts"
import { User, toPerson } from "./Responses.ts"
import { gitlabComments, gitlabStatus } from "./Comments.ts"
import { gitlabCommitComments } from "./CommitComments.ts"
import { gitlabContents } from "./Contents.ts"
import { gitlabIssues } from "./Issues.ts"
import { mergeRequest } from "./Paths.ts"
import { gitlabPermissions } from "./Permissions.ts"
import { gitlabWebhooks } from "./Webhooks.ts"
import { gitlabPulls } from "./Pulls.ts"
import { createReview } from "./Review.ts"
import { gitlabThreads } from "./Threads.ts"

export const gitlabClient = (profile: TriggerProfile): ForgeClient => {
  const rest = makeRest({
    apiUrl: apiUrl(profile),
    credential: tokenCredential(profile, (token) => ["private-token", token]),
    headers: {},
    dispatcher: dispatcher(profile),
    writeGap: writeGap(profile)
  })
  const { token } = profile
  const { self } = ownAccount(
    Effect.map(rest.get({ path: "/user" }, User), (user) => ({ ...toPerson(user), id: user.id }))
  )
  const comments = gitlabComments(rest, self)
  return {
    self,
    gitAuthorization: () => Effect.succeed(token === undefined ? undefined : basicHeader("oauth2", token)),
    ...gitlabPulls(rest),
    ...gitlabPermissions(rest),
    webhooks: gitlabWebhooks(rest),
    createReview: (repo, number, review) => createReview(rest, mergeRequest(repo, number), review),
    verdicts: undefined,
    ...comments,
    setStatus: gitlabStatus(rest),
    ...gitlabIssues(rest),
    ...gitlabContents(rest),
    ci: gitlabCi(rest),
    findAccount: findAccount(rest),
    commitComments: gitlabCommitComments(rest, self),
    threads: gitlabThreads(rest, self, mergeRequest, comments.updateComment)
  }
}
