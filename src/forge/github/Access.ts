/** Authentication of a profile's requests: with a token, or as the installation of an app. */
import { Effect, Redacted, Clock, Semaphore } from "effect"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeClient } from "../Forge.ts"
import type { HostTraffic } from "../HostTraffic.ts"
import { makeRest } from "../http/Http.ts"
import type { Rest, RestOptions } from "../http/Http.ts"
import { ownAccount } from "../hosts/OwnAccount.ts"
import type { OwnAccount } from "../hosts/OwnAccount.ts"
import { PolledResponses } from "../http/PolledResponses.ts"
import { apiUrl, basicHeader, dispatcher, tokenCredential, writeGap, ownerAndName, memoize } from "../http/Profile.ts"
import { User, toPerson, App, Installation, InstallationToken } from "./Responses.ts"
import { graphqlRoot, graphqlStatus } from "./Graphql.ts"
import { mayWriteChecks, missingOfInstallation, missingOfScopes } from "./Missing.ts"
import type { Reason } from "../../domain/Reason.ts"
import { createPrivateKey } from "node:crypto"
import type { KeyObject } from "node:crypto"
import { readFile } from "node:fs/promises"
import { signJwt } from "../../domain/SignJwt.ts"
import { ForgeError } from "../ForgeError.ts"
import { anyWriter, WriteOwner } from "../WriteOwner.ts"
import { WritePermits } from "../WritePermits.ts"
import { refusals } from "./Facts.ts"
import { isRefused } from "../http/HostWords.ts"

type AppSettings = NonNullable<TriggerProfile["settings"]["app"]>

const renewBefore = 5 * 60_000
/** GitHub refuses web tokens that are valid for more than ten minutes or were issued in the future. */
const claimSeconds = 9 * 60
const clockSkew = 60

const misconfigured = (why: Reason) => new ForgeError({ reason: "invalid", operation: "configuration", why })

/** Returns the claims of the app, valid from one minute ago for nine minutes. */
const toClaims = (issuer: string, nowMillis: number) => {
  const now = Math.floor(nowMillis / 1000)
  return { iat: now - clockSkew, exp: now + claimSeconds, iss: issuer }
}

/** Parses PEM, or PEM in base64, which is common in environment variables. */
const privateKey = (text: string): KeyObject =>
  createPrivateKey(text.includes("-----BEGIN") ? text : Buffer.from(text, "base64").toString("utf8"))

const keyText = (trigger: string, app: AppSettings): Effect.Effect<string, ForgeError> => {
  const { private_key: literal, private_key_env: name, private_key_path: path } = app
  if (literal !== undefined) return Effect.succeed(Redacted.value(literal))
  if (name !== undefined) {
    const value = process.env[name]
    return value === undefined || value === ""
      ? Effect.fail(misconfigured({ _tag: "AppKeyVariableUnset", trigger, variable: name }))
      : Effect.succeed(value)
  }
  if (path === undefined) return Effect.fail(misconfigured({ _tag: "AppKeyMissing", trigger }))
  return Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => misconfigured({ _tag: "AppKeyUnreadable", trigger, path })
  })
}

interface IssuedToken {
  readonly token: Redacted.Redacted
  readonly until: number
  readonly permissions: Readonly<Record<string, string>>
}

/**
 * Credentials of a GitHub App: an installation token for one repository, issued for a JSON web token that is signed with the
 * app's private key. Tokens are valid for an hour; they are cached and renewed five minutes before they expire.
 */
interface AppAuth {
  /** Requests as the app itself. */
  readonly rest: Rest
  /** Key of the host's rate limit. */
  readonly pace: string
  readonly token: (repo: Repo) => Effect.Effect<Redacted.Redacted, ForgeError>
  /** Permissions of that token by name, as the host issued it. */
  readonly granted: (repo: Repo) => Effect.Effect<Readonly<Record<string, string>>, ForgeError>
  /** Forgets the token that the host refused. */
  readonly forget: (repo: Repo) => Effect.Effect<void>
  /** Account that authors the app's comments: `<slug>[bot]`. */
  readonly account: OwnAccount
  /** Permissions of the repository's installation by name. */
  readonly permissions: (repo: Repo) => Effect.Effect<Readonly<Record<string, string>>, ForgeError>
}

const appAuth = (trigger: string, app: AppSettings, options: Omit<RestOptions, "credential">): AppAuth => {
  const issuer = app.client_id ?? app.app_id
  const key = memoize(
    Effect.flatMap(keyText(trigger, app), (text) =>
      Effect.try({
        try: () => privateKey(text),
        catch: () => misconfigured({ _tag: "AppKeyInvalid", trigger })
      })
    )
  )
  const rest = makeRest({
    ...options,
    credential: Effect.gen(function* () {
      if (issuer === undefined) return yield* misconfigured({ _tag: "AppIdMissing", trigger })
      const jwt = signJwt(toClaims(String(issuer), yield* Clock.currentTimeMillis), yield* key)
      return {
        account: `app ${issuer}`,
        headers: { authorization: Redacted.make(`Bearer ${jwt}`) },
        secrets: [Redacted.make(jwt)]
      }
    })
  })

  const findInstallation = (repo: Repo) =>
    rest
      .get({ path: "/repos/{owner}/{repo}/installation", params: ownerAndName(repo) }, Installation)
      .pipe(
        Effect.mapError((error) =>
          isRefused(refusals.notInstalled)(error)
            ? new ForgeError({ ...error, why: { _tag: "AppNotInstalled", trigger, repository: repo.fullName } })
            : error
        )
      )

  const installation = (repo: Repo): Effect.Effect<string | number, ForgeError> =>
    app.installation_id !== undefined
      ? Effect.succeed(app.installation_id)
      : Effect.map(findInstallation(repo), ({ id }) => id)

  const tokens = new Map<string, IssuedToken>()
  const issuing = Semaphore.makeUnsafe(1)
  const keyOf = (repo: Repo) => (app.installation_id === undefined ? repo.fullName.toLowerCase() : "")
  const forget: AppAuth["forget"] = (repo) => Effect.sync(() => void tokens.delete(keyOf(repo)))
  const issue = (repo: Repo): Effect.Effect<IssuedToken, ForgeError> =>
    Effect.gen(function* () {
      const cacheKey = keyOf(repo)
      const cached = tokens.get(cacheKey)
      if (cached !== undefined && cached.until > (yield* Clock.currentTimeMillis)) return cached
      const id = yield* installation(repo)
      const issued = yield* rest
        .write(
          {
            method: "POST",
            path: "/app/installations/{installation_id}/access_tokens",
            params: { installation_id: id },
            content: false
          },
          InstallationToken
        )
        .pipe(Effect.provideService(WriteOwner, anyWriter), Effect.provide(WritePermits.layerAlone))
      const until = Date.parse(issued.expires_at) - renewBefore
      const renewed = { token: Redacted.make(issued.token), until, permissions: issued.permissions ?? {} }
      tokens.set(cacheKey, renewed)
      return renewed
    }).pipe(issuing.withPermit)
  const token: AppAuth["token"] = (repo) => Effect.map(issue(repo), (issued) => issued.token)
  const granted: AppAuth["granted"] = (repo) => Effect.map(issue(repo), (issued) => issued.permissions)

  const account = ownAccount(Effect.map(rest.get({ path: "/app" }, App), ({ slug }) => ({ username: `${slug}[bot]` })))
  const permissions: AppAuth["permissions"] = (repo) =>
    Effect.map(findInstallation(repo), (found) => found.permissions ?? {})
  return { rest, pace: `app ${issuer}`, token, granted, forget, account, permissions }
}

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

export const access = (profile: TriggerProfile, traffic: HostTraffic["Service"]): Access => {
  const options: Omit<RestOptions, "credential"> = {
    traffic,
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
