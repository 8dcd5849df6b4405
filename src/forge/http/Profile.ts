/**
 * Settings that every client derives from its trigger profile: REST root, credential, proxy and private certificate authorities.
 */
import { readFile } from "node:fs/promises"
import { rootCertificates } from "node:tls"
import { Duration, Effect, Redacted } from "effect"
import { Agent, EnvHttpProxyAgent, ProxyAgent } from "undici"
import type { Dispatcher } from "undici"
import type { TriggerProfile } from "../../config/Snapshot.ts"
import type { HeadRepo, Repo } from "../../domain/Change.ts"
import type { Reason } from "../../domain/Reason.ts"
import { checkedConnect } from "./CheckedConnect.ts"
import { ForgeError } from "../ForgeError.ts"
import type { Credential } from "./Http.ts"
import type { HostGap } from "../Pacing.ts"

const misconfigured = (why: Reason): ForgeError =>
  new ForgeError({ reason: "invalid", operation: "configuration", why })

export const apiUrl = (profile: TriggerProfile): Effect.Effect<string, ForgeError> =>
  profile.apiUrl === undefined
    ? Effect.fail(misconfigured({ _tag: "NoBaseUrl", trigger: profile.name }))
    : Effect.succeed(profile.apiUrl.replace(/(?<!\/)\/+$/, ""))

/**
 * Returns the time between two content writes: the configured one, else that of the host. GitHub documents a second and limits accounts that
 * comment faster, and so does gitlab.com. Gitea, Forgejo and a GitLab of one's own have no limit unless they report one (Pacing.ts).
 */
export const writeGap = ({ apiUrl: url = "", kind, settings }: TriggerProfile): HostGap => {
  const isPublicGitlab = kind === "gitlab" && URL.canParse(url) && new URL(url).hostname === "gitlab.com"
  const { write_interval_ms: configured } = settings
  const gap = Duration.millis(configured ?? (kind === "github" || isPublicGitlab ? 1000 : 0))
  return { gap, isFixed: configured !== undefined }
}

/**
 * Returns whether requests to the host are authenticated. An app has an account of its own, which the host returns without an
 * installation.
 */
export const hasCredential = ({ settings, token }: TriggerProfile): boolean =>
  token !== undefined || settings.app !== undefined

/** Returns the trigger's token as the header of its host. */
export const tokenCredential = (
  profile: TriggerProfile,
  header: (token: string) => readonly [name: string, value: string]
): Effect.Effect<Credential, ForgeError> => {
  if (profile.token === undefined) {
    return Effect.fail(
      new ForgeError({
        reason: "unauthorized",
        operation: "configuration",
        why: { _tag: "NoOutboundCredential", trigger: profile.name }
      })
    )
  }
  const token = Redacted.value(profile.token)
  const [name, value] = header(token)
  return Effect.succeed({ account: token, headers: { [name]: Redacted.make(value) }, secrets: [profile.token] })
}

/** Returns the header for git over HTTP in the form that all hosts accept: the token as password. */
export const basicHeader = (username: string, token: Redacted.Redacted): Redacted.Redacted =>
  Redacted.make(
    `Authorization: Basic ${Buffer.from(`${username}:${Redacted.value(token)}`, "utf8").toString("base64")}`
  )

const proxyVariables = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"]

/** Requests to a loopback address ignore the proxy variables of the environment. */
const isLoopback = (url: string | undefined): boolean =>
  url !== undefined && URL.canParse(url) && /^(localhost|127\..*|\[::1\])$/.test(new URL(url).hostname)

export const dispatcher = ({ apiUrl: url, name, settings }: TriggerProfile) =>
  makeDispatcher({ trigger: name }, { url, proxy: settings.http_proxy, caPath: settings.tls_ca_path })

/** The trigger or the channel that has a way to a host. */
interface RouteOwner {
  readonly trigger?: string
  readonly channel?: string
}

/** Way to a host. */
interface HostRoute {
  readonly url: string | undefined
  readonly proxy: string | undefined
  /** Absolute path. */
  readonly caPath: string | undefined
}

/**
 * Returns the dispatcher for connections of a trigger or a channel: with its own proxy and certificate authorities where configured,
 * else with the proxy variables of the environment. Without a proxy, connections to other servers than the host are checked.
 */
export const makeDispatcher = (
  owner: RouteOwner,
  { caPath, proxy, url }: HostRoute
): Effect.Effect<Dispatcher, ForgeError> => {
  const fromEnvironment = !isLoopback(url) && proxyVariables.some((name) => process.env[name])
  return memoize(
    Effect.gen(function* () {
      const roots = caPath === undefined ? {} : { ca: [...rootCertificates, yield* certificates(owner, caPath)] }
      if (proxy !== undefined) return new ProxyAgent({ uri: proxy, requestTls: roots })
      const connect = checkedConnect(url, roots)
      return fromEnvironment ? new EnvHttpProxyAgent({ connect, requestTls: roots }) : new Agent({ connect })
    })
  )
}

const certificates = (owner: RouteOwner, path: string): Effect.Effect<string, ForgeError> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => misconfigured({ _tag: "CertificatesUnreadable", ...owner, path })
  })

/** Path of a repository at hosts with GitHub's form of paths; `ownerAndName` returns its parameters. */
export const repoPath = "/repos/{owner}/{repo}"

/** Splits the name of a repository into `owner` and `repo`, for hosts that have exactly these two parts. */
export const ownerAndName = (repo: Repo): { readonly owner: string; readonly repo: string } => {
  const slash = repo.fullName.indexOf("/")
  return { owner: repo.fullName.slice(0, Math.max(0, slash)), repo: repo.fullName.slice(slash + 1) }
}

/**
 * Returns the owner in the name of a repository. A fork with the owner of its original belongs to an organisation: undefined. The name of another
 * organisation has write access to nothing.
 */
export const ownerByName = ({ fullName = "" }: HeadRepo, original: Repo): Effect.Effect<string | undefined> => {
  const [owner = ""] = fullName.split("/")
  return Effect.succeed(owner === "" || sameName(owner, ownerAndName(original).owner) ? undefined : owner)
}

/** Caches the first success, so that the account of a credential is requested once. */
export const memoize = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> => {
  let cached: { readonly value: A } | undefined
  return Effect.suspend(() =>
    cached !== undefined
      ? Effect.succeed(cached.value)
      : Effect.tap(effect, (value) =>
          Effect.sync(() => {
            cached = { value }
          })
        )
  )
}

export const sameName = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase()
