/**
 * Parses the connection settings of NATS from the environment (they are no part of the configuration document). Pure: files that hold
 * credentials are read when the connection is made.
 */
import { Redacted, Result } from "effect"

type NatsAuth =
  | { readonly kind: "none" }
  | { readonly kind: "password"; readonly user: string; readonly password: Redacted.Redacted }
  | { readonly kind: "token"; readonly token: Redacted.Redacted }
  | { readonly kind: "creds"; readonly path: string }
  | { readonly kind: "nkey"; readonly path: string }

interface NatsTls {
  readonly caPath: string | undefined
  readonly certPath: string | undefined
  readonly keyPath: string | undefined
}

export interface NatsSettings {
  /** Servers as `host:port`, without credentials, so that they may be logged. */
  readonly servers: readonly [string, ...ReadonlyArray<string>]
  readonly auth: NatsAuth
  /** Undefined: no TLS unless the server requires it. */
  readonly tls: NatsTls | undefined
  /** Prefix of every subject, stream and bucket, so that installations and tests can share a server. */
  readonly prefix: string
  /** Number of copies of every stream and bucket. */
  readonly replicas: 1 | 3 | 5
}

type Env = Readonly<Record<string, string | undefined>>

export const defaultPrefix = "aicr"

/** Returns undefined if SVC_NATS_URL is not set: the service then works without NATS. The failure names the variable and the reason. */
export const natsSettings = (env: Env): Result.Result<NatsSettings | undefined, string> =>
  Result.gen(function* () {
    const urls = value(env, "SVC_NATS_URL")
    if (urls === undefined) return undefined
    const parsed: Array<Server> = []
    for (const url of urls.split(",")) {
      if (url.trim() !== "") parsed.push(yield* parseServer(url.trim()))
    }
    const [first, ...others] = parsed
    if (first === undefined) return yield* Result.fail("SVC_NATS_URL names no server; write nats://host:4222")
    const auth = yield* authOf(env, parsed)
    const tls = yield* tlsOf(env, parsed)
    const prefix = value(env, "SVC_NATS_PREFIX") ?? defaultPrefix
    if (!/^[A-Za-z0-9_-]{1,32}$/.test(prefix)) {
      return yield* Result.fail("SVC_NATS_PREFIX: at most 32 letters, digits, - and _")
    }
    const replicas = yield* replicasOf(value(env, "SVC_NATS_REPLICAS") ?? "1")
    return { servers: [first.place, ...others.map(({ place }) => place)], auth, tls, prefix, replicas }
  })

/** Returns the variable if it is set and not empty. */
const value = (env: Env, name: string): string | undefined => {
  const text = env[name]?.trim()
  return text === "" ? undefined : text
}

interface Server {
  readonly place: string
  readonly tls: boolean
  readonly auth: NatsAuth | undefined
}

const parseServer = (text: string): Result.Result<Server, string> => {
  const withScheme = text.includes("://") ? text : `nats://${text}`
  // Messages never repeat parts of an address, which may contain credentials.
  if (!URL.canParse(withScheme))
    return Result.fail("SVC_NATS_URL: one of its addresses is not a URL; write nats://host:4222")
  const url = new URL(withScheme)
  if (url.protocol !== "nats:" && url.protocol !== "tls:") {
    return Result.fail(`SVC_NATS_URL: ${url.protocol}// is not supported; write nats:// or tls://`)
  }
  if (url.hostname === "") return Result.fail("SVC_NATS_URL: one of its addresses has no host; write nats://host:4222")
  const [user, password] = [decode(url.username), decode(url.password)]
  if (user === undefined || password === undefined) {
    return Result.fail(
      "SVC_NATS_URL: credentials in an address are not percent-encoded; use SVC_NATS_USER and SVC_NATS_PASSWORD"
    )
  }
  if (user === "" && password !== "") return Result.fail("SVC_NATS_URL: an address has a password but no user")
  return Result.succeed({
    place: `${url.hostname}:${url.port === "" ? "4222" : url.port}`,
    tls: url.protocol === "tls:",
    auth:
      user === ""
        ? undefined
        : password === ""
          ? { kind: "token", token: Redacted.make(user) }
          : { kind: "password", user, password: Redacted.make(password) }
  })
}

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const together = (
  env: Env,
  names: readonly [string, string]
): Result.Result<readonly [string, string] | undefined, string> => {
  const [one, other] = [value(env, names[0]), value(env, names[1])]
  if (one === undefined && other === undefined) return Result.succeed(undefined)
  if (one !== undefined && other !== undefined) return Result.succeed([one, other])
  const [set, missing] = one === undefined ? [names[1], names[0]] : names
  return Result.fail(`${set} is set but ${missing} is not; set both or none`)
}

const authOf = (env: Env, servers: ReadonlyArray<Server>): Result.Result<NatsAuth, string> =>
  Result.gen(function* () {
    const ways: Array<readonly [from: string, auth: NatsAuth]> = []
    const pair = yield* together(env, ["SVC_NATS_USER", "SVC_NATS_PASSWORD"])
    if (pair !== undefined) {
      const [user, password] = pair
      ways.push(["SVC_NATS_USER", { kind: "password", user, password: Redacted.make(password) }])
    }
    const token = value(env, "SVC_NATS_TOKEN")
    if (token !== undefined) ways.push(["SVC_NATS_TOKEN", { kind: "token", token: Redacted.make(token) }])
    const creds = value(env, "SVC_NATS_CREDS_PATH")
    if (creds !== undefined) ways.push(["SVC_NATS_CREDS_PATH", { kind: "creds", path: creds }])
    const seed = value(env, "SVC_NATS_NKEY_SEED_PATH")
    if (seed !== undefined) ways.push(["SVC_NATS_NKEY_SEED_PATH", { kind: "nkey", path: seed }])
    const [inUrl, ...more] = servers.flatMap(({ auth }) => (auth === undefined ? [] : [auth]))
    if (inUrl !== undefined) {
      // All servers belong to one cluster, so they share one identity.
      if (more.some((other) => !sameAuth(inUrl, other))) {
        return yield* Result.fail(
          "SVC_NATS_URL: its addresses hold different credentials; use SVC_NATS_USER and SVC_NATS_PASSWORD"
        )
      }
      ways.push(["credentials in SVC_NATS_URL", inUrl])
    }
    if (ways.length > 1) {
      return yield* Result.fail(
        `NATS credentials are set in several ways: ${ways.map(([from]) => from).join(", ")}; keep one`
      )
    }
    return ways[0]?.[1] ?? { kind: "none" }
  })

const sameAuth = (a: NatsAuth, b: NatsAuth): boolean => {
  if (a.kind === "password" && b.kind === "password") {
    return a.user === b.user && Redacted.value(a.password) === Redacted.value(b.password)
  }
  return a.kind === "token" && b.kind === "token" && Redacted.value(a.token) === Redacted.value(b.token)
}

const tlsOf = (env: Env, servers: ReadonlyArray<Server>): Result.Result<NatsTls | undefined, string> =>
  Result.gen(function* () {
    const caPath = value(env, "SVC_NATS_TLS_CA_PATH")
    const pair = yield* together(env, ["SVC_NATS_TLS_CERT_PATH", "SVC_NATS_TLS_KEY_PATH"])
    if (caPath === undefined && pair === undefined && !servers.some(({ tls }) => tls)) return undefined
    return { caPath, certPath: pair?.[0], keyPath: pair?.[1] }
  })

const replicasOf = (text: string): Result.Result<1 | 3 | 5, string> => {
  switch (text) {
    case "1":
      return Result.succeed(1)
    case "3":
      return Result.succeed(3)
    case "5":
      return Result.succeed(5)
    default:
      return Result.fail("SVC_NATS_REPLICAS: 1, 3 or 5")
  }
}
