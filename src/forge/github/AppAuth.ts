/**
 * Credentials of a GitHub App: a token of one repository's installation, issued for a JSON web token that is signed with the app's private
 * key. Tokens live an hour; they are kept and renewed five minutes before they end.
 */
import { createPrivateKey } from "node:crypto"
import type { KeyObject } from "node:crypto"
import { readFile } from "node:fs/promises"
import { Clock, Effect, Redacted, Semaphore } from "effect"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { Person, Repo } from "../../domain/Change.ts"
import { signJwt } from "../../domain/SignJwt.ts"
import { ForgeError } from "../Forge.ts"
import { make } from "../Http.ts"
import type { RestOptions } from "../Http.ts"
import { ownerAndName, remembered } from "../Profile.ts"
import { App, Installation, InstallationToken } from "./answers.ts"
import { anyWriter, WriteOwner } from "../WriteOwner.ts"
import { WriteTurns } from "../WriteTurns.ts"

type AppSettings = NonNullable<TriggerProfile["settings"]["app"]>

const renewBefore = 5 * 60_000
/** GitHub refuses tokens of more than ten minutes and clocks that run ahead. */
const claimLife = 9 * 60
const clockSkew = 60

const misconfigured = (message: string) => new ForgeError({ reason: "invalid", operation: "configuration", message })

/** The claim to be this app, valid from a minute ago for nine minutes. */
const claimsOf = (issuer: string, nowMillis: number) => {
  const now = Math.floor(nowMillis / 1000)
  return { iat: now - clockSkew, exp: now + claimLife, iss: issuer }
}

/** PEM, or PEM in base64 as it is often kept in an environment variable. */
const privateKey = (text: string): KeyObject =>
  createPrivateKey(text.includes("-----BEGIN") ? text : Buffer.from(text, "base64").toString("utf8"))

const keyText = (trigger: string, app: AppSettings): Effect.Effect<string, ForgeError> => {
  const { private_key: literal, private_key_env: name, private_key_path: path } = app
  if (literal !== undefined) return Effect.succeed(Redacted.value(literal))
  if (name !== undefined) {
    const value = process.env[name]
    return value === undefined || value === ""
      ? Effect.fail(misconfigured(`trigger ${trigger}: environment variable ${name} (app.private_key_env) is not set`))
      : Effect.succeed(value)
  }
  if (path === undefined) return Effect.fail(misconfigured(`trigger ${trigger}: app has no private key`))
  return Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => misconfigured(`trigger ${trigger}: app.private_key_path ${path} cannot be read`)
  })
}

export interface AppAuth {
  /** What the host counts requests by. */
  readonly account: string
  readonly token: (repo: Repo) => Effect.Effect<Redacted.Redacted, ForgeError>
  /** The account that the app's comments stand under: `<slug>[bot]`. */
  readonly self: Effect.Effect<Person, ForgeError>
  /** Permissions of the repository's installation, by name. */
  readonly permissions: (repo: Repo) => Effect.Effect<Readonly<Record<string, string>>, ForgeError>
}

export const appAuth = (trigger: string, app: AppSettings, options: Omit<RestOptions, "credential">): AppAuth => {
  const issuer = app.client_id ?? app.app_id
  const key = remembered(
    Effect.flatMap(keyText(trigger, app), (text) =>
      Effect.try({
        try: () => privateKey(text),
        catch: () => misconfigured(`trigger ${trigger}: the app's private key is not a PEM key`)
      })
    )
  )
  const rest = make({
    ...options,
    credential: Effect.gen(function* () {
      if (issuer === undefined) return yield* misconfigured(`trigger ${trigger}: app needs app_id or client_id`)
      const jwt = signJwt(claimsOf(String(issuer), yield* Clock.currentTimeMillis), yield* key)
      return {
        account: `app ${issuer}`,
        headers: { authorization: Redacted.make(`Bearer ${jwt}`) },
        secrets: [Redacted.make(jwt)]
      }
    })
  })

  const installationOf = (repo: Repo) =>
    rest.get({ path: "/repos/{owner}/{repo}/installation", params: ownerAndName(repo) }, Installation).pipe(
      Effect.mapError((error) =>
        error.reason === "not_found"
          ? new ForgeError({
              ...error,
              message: `the app of trigger ${trigger} is not installed on ${repo.fullName}; select the repository in the app's installation`
            })
          : error
      )
    )

  const installation = (repo: Repo): Effect.Effect<string | number, ForgeError> =>
    app.installation_id !== undefined
      ? Effect.succeed(app.installation_id)
      : Effect.map(installationOf(repo), ({ id }) => id)

  const kept = new Map<string, { readonly token: Redacted.Redacted; readonly until: number }>()
  const turn = Semaphore.makeUnsafe(1)
  const token: AppAuth["token"] = (repo) =>
    Effect.gen(function* () {
      const cacheKey = app.installation_id === undefined ? repo.fullName.toLowerCase() : ""
      const known = kept.get(cacheKey)
      if (known !== undefined && known.until > (yield* Clock.currentTimeMillis)) return known.token
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
        .pipe(Effect.provideService(WriteOwner, anyWriter), Effect.provide(WriteTurns.layerAlone))
      const fresh = Redacted.make(issued.token)
      kept.set(cacheKey, { token: fresh, until: Date.parse(issued.expires_at) - renewBefore })
      return fresh
    }).pipe(turn.withPermit)

  const self = remembered(
    Effect.map(rest.get({ path: "/app" }, App), (found): Person => ({ username: `${found.slug}[bot]` }))
  )
  const permissions: AppAuth["permissions"] = (repo) =>
    Effect.map(installationOf(repo), (found) => found.permissions ?? {})
  return { account: `app ${issuer}`, token, self, permissions }
}
