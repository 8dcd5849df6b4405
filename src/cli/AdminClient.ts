/**
 * Client of a running service's administration. It logs in for one command and logs out after it; the token is neither displayed nor stored.
 */
import { Effect, Redacted } from "effect"
import { Prompt } from "effect/cli"
import type { Snapshot } from "../config/Snapshot.ts"
import { detail, toPath } from "./AdminCall.ts"
import type { AdminCall, AdminReply, SendCall } from "./AdminCall.ts"
import { ExitWith, refused } from "./Exit.ts"

export interface ServiceAddress {
  /** URL with the path prefix, without a trailing slash. */
  readonly url: string
  /** Variables that hold the administrator's credentials. */
  readonly usernameEnv: string
  readonly passwordEnv: string
}

const timeoutMillis = 15_000
const maxReplyBytes = 64 * 1024 * 1024

/** Parses the address given with `--url`. A password is only sent over an unencrypted connection on this machine. */
export const serviceAt = (text: string): Effect.Effect<ServiceAddress, ExitWith> => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "") {
    return Effect.fail(refused("--url: expected http(s)://host[:port][/prefix] without credentials"))
  }
  if (url.protocol === "http:" && !["127.0.0.1", "[::1]", "localhost"].includes(url.hostname)) {
    return Effect.fail(refused(`--url: http would send the password unencrypted to ${url.host}; use https`))
  }
  const base = `${url.origin}${url.pathname}`.replace(/\/$/, "")
  return Effect.succeed({ url: base, usernameEnv: "SVC_ADMIN_USERNAME", passwordEnv: "SVC_ADMIN_PASSWORD" })
}

/** Returns the address of the service that this configuration starts on this machine. */
export const defaultServiceAddress = ({ admin, server }: Snapshot["document"]): ServiceAddress => {
  const host = server.hostname === "0.0.0.0" || server.hostname === "::" ? "127.0.0.1" : server.hostname
  const prefix = (server.path_prefix ?? "").split("/").filter(Boolean).join("/")
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.admin_port ?? server.port}${prefix === "" ? "" : `/${prefix}`}`,
    usernameEnv: admin.username_env,
    passwordEnv: admin.password_env
  }
}

/** Variable with a token of a session, which replaces the login. */
const tokenEnv = "SVC_ADMIN_TOKEN"

/** Opens a session for the duration of `use`, and ends it. With a token in the environment that session is used and remains. */
export const withService = <A>(
  service: ServiceAddress,
  use: (send: SendCall) => Effect.Effect<A, ExitWith>
): Effect.Effect<A, ExitWith, Prompt.Environment> =>
  Effect.gen(function* () {
    const given = process.env[tokenEnv] ?? ""
    const sendWith =
      (token: Redacted.Redacted): SendCall =>
      (call) =>
        Effect.flatMap(request(service, call, token), (reply) =>
          reply.status === 401
            ? refused(`the service at ${service.url} refused the session; check ${tokenEnv}`)
            : Effect.succeed(reply)
        )
    if (given !== "") return yield* use(sendWith(Redacted.make(given)))
    const username = process.env[service.usernameEnv] ?? ""
    if (username === "") {
      return yield* refused(
        `the administration of the service at ${service.url} needs a login: set ${service.usernameEnv} and ${service.passwordEnv}, or ${tokenEnv}`
      )
    }
    const password = yield* readPassword(service)
    return yield* Effect.acquireUseRelease(
      login(service, username, password),
      (token) => use(sendWith(token)),
      (token) => Effect.ignore(request(service, { method: "POST", path: "/logout" }, token))
    )
  })

const readPassword = Effect.fnUntraced(function* ({ passwordEnv }: ServiceAddress) {
  const text = process.env[passwordEnv] ?? ""
  if (text !== "") return Redacted.make(text)
  if (process.stdin.isTTY)
    return yield* Effect.mapError(Prompt.run(Prompt.Password({ message: "Password of the administrator" })), () =>
      refused("no password was given")
    )
  return yield* refused(`set ${passwordEnv} to the password of the administrator, or start this command in a terminal`)
})

const login = Effect.fnUntraced(function* (service: ServiceAddress, username: string, password: Redacted.Redacted) {
  const { usernameEnv, passwordEnv, url } = service
  const body = { username, password: Redacted.value(password) }
  const reply = yield* request(service, { method: "POST", path: "/login", body })
  const { token } = reply.body
  if (reply.status === 200 && typeof token === "string") return Redacted.make(token)
  if (reply.status === 401)
    return yield* refused(`the service at ${url} refused the login; check ${usernameEnv} and ${passwordEnv}`)
  if (reply.status === 404)
    return yield* refused(`no administration at ${url}/api/admin: ${detail(reply)}; check the address and the prefix`)
  return yield* unexpected(service, reply)
})

const unexpected = ({ url }: ServiceAddress, reply: AdminReply) =>
  new ExitWith({ code: 3, message: `the service at ${url} responded with ${reply.status}: ${detail(reply)}` })

const request = (
  { url }: ServiceAddress,
  call: AdminCall,
  token?: Redacted.Redacted
): Effect.Effect<AdminReply, ExitWith> =>
  Effect.tryPromise({
    try: async (signal): Promise<AdminReply> => {
      const response = await fetch(`${url}/api/admin${toPath(call)}`, {
        method: call.method,
        redirect: "error",
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMillis)]),
        ...(token === undefined ? {} : { headers: { authorization: `Bearer ${Redacted.value(token)}` } }),
        ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) })
      })
      return { status: response.status, body: parse(await readText(response)) }
    },
    catch: (cause) =>
      new ExitWith({
        code: 3,
        message: `no service responds at ${url}: ${reason(cause)}; start it, or name its address with --url`
      })
  })

const readText = async (response: Response): Promise<string> => {
  const parts: Array<Uint8Array> = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > maxReplyBytes) throw new Error(`its response has more than ${maxReplyBytes} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString("utf8")
}

const parse = (text: string): AdminReply["body"] => {
  try {
    const value: unknown = JSON.parse(text)
    return Object(value)
  } catch {
    return {}
  }
}

const reason = (cause: unknown): string => {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  if (!(inner instanceof Error)) return "the connection failed"
  return "code" in inner && typeof inner.code === "string" ? inner.code : inner.message
}
