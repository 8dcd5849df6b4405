/** How a profile signs its requests: with a token, or as an app's installation. */
import { Effect, Redacted } from "effect"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient, ForgeError } from "../Forge.ts"
import { make } from "../Http.ts"
import type { Rest, RestOptions } from "../Http.ts"
import { apiUrl, basicHeader, dispatcher, remembered, tokenCredential } from "../Profile.ts"
import { User, personOf } from "./answers.ts"
import { appAuth } from "./AppAuth.ts"
import { graphqlRoot, graphqlStatus } from "./graphql.ts"
import { missingOfInstallation, missingOfScopes } from "./missing.ts"

/** The same REST client for all repositories, or one per installation. */
export interface Access {
  readonly rest: (repo: Repo) => Rest
  readonly graphql: (repo: Repo) => Rest
  readonly self: ForgeClient["self"]
  readonly gitAuthorization: ForgeClient["gitAuthorization"]
  /** What the credential itself may not do; what its account may not do is read with the repository. */
  readonly missing: (repo: Repo, isPrivate: boolean) => Effect.Effect<ReadonlyArray<string>, ForgeError>
}

export const access = (profile: TriggerProfile): Access => {
  const options: Omit<RestOptions, "credential"> = {
    apiUrl: apiUrl(profile),
    headers: { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" },
    dispatcher: dispatcher(profile)
  }
  const graphqlOptions: Omit<RestOptions, "credential"> = {
    ...options,
    apiUrl: Effect.map(options.apiUrl, graphqlRoot),
    status: graphqlStatus,
    api: "/graphql"
  }
  const { app } = profile.settings
  if (app !== undefined) {
    const auth = appAuth(profile.name, app, options)
    const bearer = (token: Redacted.Redacted) => ({
      account: auth.account,
      headers: { authorization: Redacted.make(`Bearer ${Redacted.value(token)}`) },
      secrets: [token]
    })
    const credential = (repo: Repo) => Effect.map(auth.token(repo), bearer)
    return {
      rest: (repo) => make({ ...options, credential: credential(repo) }),
      graphql: (repo) => make({ ...graphqlOptions, credential: credential(repo) }),
      self: auth.self,
      gitAuthorization: (repo) => Effect.map(auth.token(repo), (token) => basicHeader("x-access-token", token)),
      missing: (repo) => Effect.map(auth.permissions(repo), missingOfInstallation)
    }
  }
  const credential = tokenCredential(profile, (token) => ["authorization", `Bearer ${token}`])
  const rest = make({ ...options, credential })
  const graphql = make({ ...graphqlOptions, credential })
  const { token } = profile
  return {
    rest: () => rest,
    graphql: () => graphql,
    self: remembered(
      Effect.map(rest.get({ path: "/user" }, User), (user) => personOf(user) ?? { username: user.login })
    ),
    gitAuthorization: () => Effect.succeed(token === undefined ? undefined : basicHeader("x-access-token", token)),
    missing: (_, isPrivate) =>
      Effect.map(rest.headers({ path: "/user" }), (headers) => missingOfScopes(headers["x-oauth-scopes"], isPrivate))
  }
}
