/** Client for the REST API of Gitea, and of Forgejo, which differs in the `GiteaDialect`. */
import { Effect } from "effect"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import { actionsCi } from "../hosts/ActionsCi.ts"
import { ForgeError } from "../ForgeError.ts"
import type { HostTraffic } from "../HostTraffic.ts"
import type { ForgeClient } from "../Forge.ts"
import { makeRest } from "../http/Http.ts"
import { ownAccount } from "../hosts/OwnAccount.ts"
import type { Account } from "../hosts/OwnAccount.ts"
import { apiUrl, basicHeader, dispatcher, tokenCredential, writeGap } from "../http/Profile.ts"
import { User, toPerson } from "./Responses.ts"
import { giteaChanges } from "./Changes.ts"
import { giteaComments, giteaStatus } from "./Comments.ts"
import { giteaContents } from "./Contents.ts"
import { giteaConversations } from "./Conversations.ts"
import { giteaIssues } from "./Issues.ts"
import { giteaPermissions } from "./Permissions.ts"
import { giteaHooks } from "./Webhooks.ts"
import { giteaPulls } from "./Pulls.ts"
import { giteaReviews } from "./Reviews.ts"
import type { GiteaDialect } from "./Reviews.ts"
import { giteaReviewList } from "./ReviewList.ts"
import { giteaThreads } from "./Threads.ts"

export const giteaClient =
  (kind: Parameters<typeof giteaHooks>[1], dialect: GiteaDialect) =>
  (profile: TriggerProfile, traffic: HostTraffic["Service"]): ForgeClient => {
    const rest = makeRest({
      traffic,
      apiUrl: apiUrl(profile),
      credential: tokenCredential(profile, (token) => ["authorization", `token ${token}`]),
      headers: {},
      dispatcher: dispatcher(profile),
      writeGap: writeGap(profile)
    })
    const own = ownAccount(
      Effect.flatMap(rest.get({ path: "/user" }, User), (user): Effect.Effect<Account, ForgeError> => {
        const person = toPerson(user)
        return person === undefined ? Effect.fail(anonymous) : Effect.succeed({ ...person, id: user.id ?? undefined })
      })
    )
    const { self } = own
    const { token } = profile
    const comments = giteaComments(rest, self)
    const reviews = giteaReviewList(rest, self)
    return {
      self,
      gitAuthorization: () => Effect.succeed(token === undefined ? undefined : basicHeader("aicr", token)),
      ...giteaPulls(rest),
      ...giteaPermissions(rest),
      hooks: giteaHooks(rest, kind),
      ...giteaReviews(rest, self, dialect, reviews),
      ...comments,
      setStatus: giteaStatus(rest),
      changes: giteaChanges(rest, self),
      ...giteaIssues(rest, own),
      ...giteaContents(rest),
      conversations: giteaConversations(rest, self, dialect, { ...comments, reviews }),
      threads: giteaThreads(reviews, self, comments.updateComment),
      ci: dialect.hasActions ? actionsCi(() => rest, { name: "limit", value: 50 }) : undefined,
      findAccount: undefined,
      commitComments: undefined
    }
  }

const anonymous = new ForgeError({
  reason: "unauthorized",
  operation: "GET /user",
  why: { _tag: "NoAccountNamed" }
})
