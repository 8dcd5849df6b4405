/** Client for GitLab's REST API. A merge request is addressed by its `iid` within its project. */
import { Clock, Effect } from "effect"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { ForgeClient } from "../Forge.ts"
import type { HostTraffic } from "../HostTraffic.ts"
import { makeRest } from "../http/Http.ts"
import { ownAccount } from "../hosts/OwnAccount.ts"
import { apiUrl, basicHeader, dispatcher, tokenCredential, writeGap } from "../http/Profile.ts"
import { findAccount } from "./Accounts.ts"
import { gitlabCi } from "./Ci.ts"
import { User, toPerson } from "./Responses.ts"
import { gitlabChanges } from "./Changes.ts"
import { gitlabComments, gitlabStatus } from "./Comments.ts"
import { gitlabCommitComments } from "./CommitComments.ts"
import { gitlabContents } from "./Contents.ts"
import { gitlabConversations } from "./Conversations.ts"
import { gitlabIssues } from "./Issues.ts"
import { mergeRequest } from "./Paths.ts"
import { gitlabPermissions } from "./Permissions.ts"
import { gitlabHooks } from "./Webhooks.ts"
import { gitlabPulls, recentRefs } from "./Pulls.ts"
import { createReview } from "./Review.ts"
import { gitlabThreads } from "./Threads.ts"

export const gitlabClient = (profile: TriggerProfile, traffic: HostTraffic["Service"]): ForgeClient => {
  const rest = makeRest({
    traffic,
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
  const recent = recentRefs()
  const comments = gitlabComments(rest, self)
  return {
    self,
    gitAuthorization: () => Effect.succeed(token === undefined ? undefined : basicHeader("oauth2", token)),
    ...gitlabPulls(rest, recent),
    ...gitlabPermissions(rest),
    hooks: gitlabHooks(rest),
    createReview: Effect.fnUntraced(function* (repo, number, review) {
      const refs = recent.find(repo, number, review.head, yield* Clock.currentTimeMillis)
      return yield* createReview(rest, mergeRequest(repo, number), review, refs)
    }),
    verdicts: undefined,
    ...comments,
    setStatus: gitlabStatus(rest),
    changes: gitlabChanges(rest, self),
    ...gitlabIssues(rest),
    ...gitlabContents(rest),
    ci: gitlabCi(rest),
    findAccount: findAccount(rest),
    commitComments: gitlabCommitComments(rest, self),
    conversations: gitlabConversations(rest, self),
    threads: gitlabThreads(rest, self, mergeRequest, comments.updateComment)
  }
}
