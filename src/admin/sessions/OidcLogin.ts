/**
 * Logs people in by OpenID Connect: the authorization code flow with PKCE, state and nonce. A login begins with a secret that the browser's tab
 * keeps; the service stores nothing until the login has succeeded, because all values of the flow follow from that secret and a key of the
 * service. So a response of the provider is of use in the tab only that began the login, at any node, for ten minutes.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { Clock, Effect, Redacted } from "effect"
import type { Configuration, CustomFetch } from "openid-client"
import { fetch as undiciFetch } from "undici"
import { readBounded, throughProxy } from "../../network/ThroughProxy.ts"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { LoginAttempts } from "../../store/LoginAttempts.ts"
import type { AdminCredentials } from "../AdminCredentials.ts"
import { because, Forbidden, notFound, TooManyRequests, Unauthorized, Unavailable } from "../api/Problems.ts"
import { finishAction, startAction } from "../handlers/Audit.ts"
import { toTime } from "../views/Views.ts"
import { requireCredentials } from "./Authentication.ts"
import { Caller } from "./Caller.ts"
import { decidePerson, lacksClaims, readOidc } from "./OidcPerson.ts"
import type { OidcSettings } from "./OidcPerson.ts"
import { failureLimits, openSession } from "./Sessions.ts"

const lifeMillis = 10 * 60_000
const keptMillis = 10 * 60_000
const timeoutSeconds = 10

const sign = ({ digest }: AdminCredentials, { digest: settings }: OidcSettings, text: string): string =>
  createHmac("sha256", digest).update(`oidc:${settings}:${text}`).digest("base64url")

const spelling = /^(\d{13})\.([0-9a-f]{64})\.([\w-]{43})$/

const makeBinding = (credentials: AdminCredentials, settings: OidcSettings, now: number): string => {
  const text = `${now + lifeMillis}.${randomBytes(32).toString("hex")}`
  return `${text}.${sign(credentials, settings, text)}`
}

/** Returns the values of the flow that follow from a secret; undefined if the service did not make it, or it has expired. */
const readBinding = (binding: string, credentials: AdminCredentials, settings: OidcSettings, now: number) => {
  const [, until = "", random = "", signature = ""] = spelling.exec(binding) ?? []
  const expected = Buffer.from(sign(credentials, settings, `${until}.${random}`))
  const given = Buffer.from(signature)
  if (given.length !== expected.length || !timingSafeEqual(given, expected) || Number(until) <= now) return undefined
  const derive = (name: string): string => sign(credentials, settings, `${name}:${random}`)
  return { state: derive("state"), nonce: derive("nonce"), verifier: derive("verifier") }
}

const loadClient = () => import("openid-client")

/** Characters of a response of the provider that are read. */
const maxResponse = 1024 * 1024
/** Statuses of responses without a body. */
const withoutBody = new Set([204, 205, 304])

/** Requests to the provider pass through the proxy of the environment. */
const fetchThroughProxy: CustomFetch = async (url, { body, headers, method, redirect, signal }) => {
  const response = await undiciFetch(url, {
    method,
    headers,
    redirect,
    ...(signal === undefined ? {} : { signal }),
    ...(body instanceof URLSearchParams || typeof body === "string" ? { body } : {}),
    ...throughProxy(url)
  })
  const { body: content, headers: found, status } = response
  const text = content === null ? "" : await readBounded(content, maxResponse)
  return new Response(withoutBody.has(status) ? null : text, { status, headers: [...found] })
}

const isLoopback = (issuer: string): boolean => {
  const { hostname, protocol } = new URL(issuer)
  return protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(hostname)
}

/** Reads the metadata of the provider. Tokens of the provider are accepted with a valid signature only. */
const discover = async ({ clientId, clientSecret, issuer }: OidcSettings): Promise<Configuration> => {
  const { allowInsecureRequests, customFetch, discovery, enableNonRepudiationChecks, None } = await loadClient()
  const secret = clientSecret === undefined ? undefined : Redacted.value(clientSecret)
  return discovery(new URL(issuer), clientId, secret, secret === undefined ? None() : undefined, {
    timeout: timeoutSeconds,
    [customFetch]: fetchThroughProxy,
    execute: [enableNonRepudiationChecks, ...(isLoopback(issuer) ? [allowInsecureRequests] : [])]
  })
}

const codeIn = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined

/** Returns the code of an error of the library or of the provider. Its message may repeat what the provider sent. */
const describeError = (error: unknown): string => {
  const given = typeof error === "object" && error !== null && "error" in error ? error.error : undefined
  if (typeof given === "string" && /^[a-z_]{1,64}$/.test(given)) return given
  const cause = error instanceof Error ? error.cause : undefined
  return codeIn(error) ?? codeIn(cause) ?? (error instanceof Error ? error.name : "unknown")
}

/** Errors of the way to the provider, which a later attempt may not have. */
const isOfNetwork = (error: unknown): boolean =>
  error instanceof TypeError ||
  (error instanceof Error && error.name === "TimeoutError") ||
  codeIn(error) === "OAUTH_TIMEOUT"

const requireSettings = Effect.gen(function* () {
  return readOidc((yield* ConfigStore).current()) ?? (yield* notFound({ _tag: "OidcOff" }))
})

const unreachable = ({ issuer }: OidcSettings, error: unknown) => {
  const why = describeError(error)
  return Effect.logWarning("provider of logins unreachable", { issuer, why }).pipe(
    Effect.andThen(
      Effect.fail(new Unavailable({ code: "unavailable", ...because({ _tag: "OidcUnreachable", issuer, why }) }))
    )
  )
}

const refuse = (why: Parameters<typeof because>[0]) => new Unauthorized({ code: "login_refused", ...because(why) })

/** Refuses a client with too many failures; its attempt counts as one until `succeeded`. */
const begin = Effect.gen(function* () {
  const { address, client } = (yield* Caller).request
  const attempts = yield* LoginAttempts
  const now = yield* Clock.currentTimeMillis
  const attempt = yield* attempts.begin({ client: `oidc:${client}`, user: "oidc" }, failureLimits, now)
  if (attempt._tag === "Begun") return attempts.succeeded(attempt.id)
  yield* Effect.logWarning("login throttled", { address })
  const seconds = Math.max(1, Math.ceil((attempt.until - now) / 1000))
  const why = because({ _tag: "TooManyFailures", seconds })
  return yield* new TooManyRequests({ code: "login_throttled", ...why, retry_after: seconds })
})

type Flow = NonNullable<ReturnType<typeof readBinding>>

/** Exchanges the code for the claims of the person. */
const readClaims = async (
  provider: Configuration,
  settings: OidcSettings,
  response: string,
  flow: Flow
): Promise<Readonly<Record<string, unknown>>> => {
  const { authorizationCodeGrant, fetchUserInfo } = await loadClient()
  const url = new URL(settings.redirectUri)
  url.search = response
  const tokens = await authorizationCodeGrant(provider, url, {
    pkceCodeVerifier: flow.verifier,
    expectedState: flow.state,
    expectedNonce: flow.nonce,
    idTokenExpected: true
  })
  const claims = tokens.claims()
  if (claims === undefined) return {}
  if (!lacksClaims(claims, settings) || provider.serverMetadata().userinfo_endpoint === undefined) return claims
  return { ...(await fetchUserInfo(provider, tokens.access_token, claims.sub)), ...claims }
}

const refuseClaims = (
  settings: OidcSettings,
  address: string,
  error: unknown
): Effect.Effect<never, Unauthorized | Unavailable> => {
  if (isOfNetwork(error)) return unreachable(settings, error)
  const why = describeError(error)
  return Effect.andThen(
    Effect.logWarning("login at the provider refused", { address, why }),
    Effect.fail(refuse({ _tag: "OidcRefused", why }))
  )
}

/** Makes the operations of a login. The metadata of the provider is read again after ten minutes. */
export const makeOidcLogin = () => {
  let read: { readonly key: string; readonly until: number; readonly provider: Configuration } | undefined
  const findProvider = Effect.fnUntraced(function* (settings: OidcSettings) {
    const now = yield* Clock.currentTimeMillis
    const key = `${settings.digest}:${settings.clientSecret === undefined ? "" : Redacted.value(settings.clientSecret)}`
    if (read?.key === key && now < read.until) return read.provider
    const provider = yield* Effect.tryPromise({ try: () => discover(settings), catch: (error) => error }).pipe(
      Effect.catch((error) => unreachable(settings, error))
    )
    read = { key, until: now + keptMillis, provider }
    return provider
  })

  const start = Effect.gen(function* () {
    const credentials = yield* requireCredentials
    const settings = yield* requireSettings
    const provider = yield* findProvider(settings)
    const now = yield* Clock.currentTimeMillis
    const binding = makeBinding(credentials, settings, now)
    const flow = readBinding(binding, credentials, settings, now) ?? (yield* Effect.die("a new binding is valid"))
    const url = yield* Effect.promise(async () => {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await loadClient()
      return buildAuthorizationUrl(provider, {
        redirect_uri: settings.redirectUri,
        scope: settings.scopes.join(" "),
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: "S256"
      })
    })
    return { url: url.href, binding }
  })

  const finish = Effect.fnUntraced(function* (binding: string, response: string) {
    const credentials = yield* requireCredentials
    const settings = yield* requireSettings
    const { address } = (yield* Caller).request
    const succeeded = yield* begin
    const flow = readBinding(binding, credentials, settings, yield* Clock.currentTimeMillis)
    if (flow === undefined) return yield* refuse({ _tag: "OidcStale" })
    const provider = yield* findProvider(settings)
    const claims = yield* Effect.tryPromise({
      try: () => readClaims(provider, settings, response, flow),
      catch: (error) => error
    }).pipe(Effect.catch((error) => refuseClaims(settings, address, error)))
    const person = decidePerson(claims, settings, credentials.username)
    if (person._tag === "Refused") {
      if (person.username !== undefined)
        yield* finishAction(yield* startAction(person.username, "login.finishOidc"), "no_role")
      yield* Effect.logWarning("login without a role", { address, why: person.why._tag })
      return yield* new Forbidden({ code: "no_role", ...because(person.why) })
    }
    yield* succeeded
    const { role, username } = person
    const id = yield* startAction(username, "login.finishOidc")
    const ttl = (yield* ConfigStore).current().document.admin.session_ttl_seconds
    const user = { username, role, origin: settings.digest }
    const { expiresAt, token } = yield* openSession(credentials, ttl, user)
    yield* finishAction(id, "done")
    return { username, token, expires_at: toTime(expiresAt) }
  })

  return { start, finish }
}
