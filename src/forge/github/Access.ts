/** Authentication of a profile's requests: with a token, or as the installation of an app. */
import { Effect, Redacted } from "effect"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient } from "../Forge.ts"
import type { ForgeError } from "../ForgeError.ts"
import { makeRest } from "../http/Http.ts"
import type { Rest, RestOptions } from "../http/Http.ts"
import { ownAccount } from "../hosts/OwnAccount.ts"
import type { OwnAccount } from "../hosts/OwnAccount.ts"
import { PolledResponses } from "../http/PolledResponses.ts"
import { apiUrl, basicHeader, dispatcher, tokenCredential, writeGap } from "../http/Profile.ts"
import { User, toPerson } from "./Responses.ts"
import { appAuth } from "./AppAuth.ts"
import { graphqlRoot, graphqlStatus } from "./Graphql.ts"
import { mayWriteChecks, missingOfInstallation, missingOfScopes } from "./Missing.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Provides the REST client: the same for all repositories, or one per installation. */
export interface Access {
  readonly rest: (repo: Repo) => Rest
  readonly graphql: (repo: Repo) => Rest
  /** The search has a limit of requests of its own, so that its refusals do not close the rest of the account. */
  readonly search: (repo: Repo) => Rest
  /** Requests as the app itself; undefined with a token. */
  readonly app: Rest | undefined
  /** Whether the installation of a repository may write check runs, by the permissions of its token; undefined with a token of an account. */
  readonly mayCheck: ((repo: Repo) => Effect.Effect<boolean, ForgeError>) | undefined
  readonly account: OwnAccount
  readonly self: ForgeClient["self"]
  readonly gitAuthorization: ForgeClient["gitAuthorization"]
  /** Permissions that the credential itself lacks; those that its account lacks are read with the repository. */
  readonly missing: (repo: Repo, isPrivate: boolean) => Effect.Effect<ReadonlyArray<Reason>, ForgeError>
}

const ofSearch = (credential: RestOptions["credential"]): RestOptions["credential"] =>
  Effect.map(credential, ({ account, ...rest }) => ({ ...rest, account: `${account} search` }))

export const access = (profile: TriggerProfile): Access => {
  const options: Omit<RestOptions, "credential"> = {
    apiUrl: apiUrl(profile),
    headers: { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" },
    dispatcher: dispatcher(profile),
    writeGap: writeGap(profile),
    polled: new PolledResponses()
  }
  const graphqlOptions: Omit<RestOptions, "credential"> = {
    ...options,
    apiUrl: Effect.map(options.apiUrl, graphqlRoot),
    status: graphqlStatus,
    api: "/graphql"
  }
  const searchOptions: Omit<RestOptions, "credential"> = { ...options, api: "/search" }
  const { app } = profile.settings
  if (app !== undefined) {
    const auth = appAuth(profile.name, app, options)
    const bearer = (token: Redacted.Redacted) => ({
      account: auth.pace,
      headers: { authorization: Redacted.make(`Bearer ${Redacted.value(token)}`) },
      secrets: [token]
    })
    const credential = (repo: Repo) => Effect.map(auth.token(repo), bearer)
    return {
      rest: (repo) => makeRest({ ...options, credential: credential(repo), renew: auth.forget(repo) }),
      graphql: (repo) => makeRest({ ...graphqlOptions, credential: credential(repo), renew: auth.forget(repo) }),
      search: (repo) =>
        makeRest({ ...searchOptions, credential: ofSearch(credential(repo)), renew: auth.forget(repo) }),
      app: auth.rest,
      mayCheck: (repo) => Effect.map(auth.granted(repo), mayWriteChecks),
      account: auth.account,
      self: auth.account.self,
      gitAuthorization: (repo) => Effect.map(auth.token(repo), (token) => basicHeader("x-access-token", token)),
      missing: (repo) => Effect.map(auth.permissions(repo), missingOfInstallation)
    }
  }
  const credential = tokenCredential(profile, (token) => ["authorization", `Bearer ${token}`])
  const rest = makeRest({ ...options, credential })
  const graphql = makeRest({ ...graphqlOptions, credential })
  const search = makeRest({ ...searchOptions, credential: ofSearch(credential) })
  const { token } = profile
  const account = ownAccount(
    Effect.map(rest.get({ path: "/user" }, User), (user) => ({ username: user.login, ...toPerson(user), id: user.id }))
  )
  return {
    rest: () => rest,
    graphql: () => graphql,
    search: () => search,
    app: undefined,
    mayCheck: undefined,
    account,
    self: account.self,
    gitAuthorization: () => Effect.succeed(token === undefined ? undefined : basicHeader("x-access-token", token)),
    missing: (_, isPrivate) =>
      Effect.map(rest.headers({ path: "/user" }), (headers) => missingOfScopes(headers["x-oauth-scopes"], isPrivate))
  }
}
