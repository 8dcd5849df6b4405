/**
 * The session of a command at a service's address. It logs in for one command and logs out after it; the token is neither displayed nor stored.
 */
import { Effect, Redacted } from "effect"
import { Prompt } from "effect/cli"
import type { Snapshot } from "../config/Snapshot.ts"
import { detail, request } from "./AdminCall.ts"
import type { AdminClient, ProblemReply } from "./AdminCall.ts"
import { makeAdminClient, sendTo } from "./AdminHttpClient.ts"
import { ExitWith, refused } from "./Exit.ts"

interface ServiceAddress {
  /** URL with the path prefix, without a trailing slash. */
  readonly url: string
  /** Variables that hold the administrator's credentials. */
  readonly usernameEnv: string
  readonly passwordEnv: string
}

/** Parses the address of a service. Credentials are only sent over an unencrypted connection on this machine. `name`: where it is given. */
export const serviceAt = (text: string, name = "--url"): Effect.Effect<ServiceAddress, ExitWith> => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "") {
    return Effect.fail(refused(`${name}: expected http(s)://host[:port][/prefix] without credentials`))
  }
  if (url.protocol === "http:" && !["127.0.0.1", "[::1]", "localhost"].includes(url.hostname)) {
    return Effect.fail(refused(`${name}: http would send credentials unencrypted to ${url.host}; use https`))
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

const clientWith = (service: ServiceAddress, token: Redacted.Redacted): Effect.Effect<AdminClient> =>
  makeAdminClient((call) =>
    Effect.flatMap(sendTo({ url: service.url, token })(call), (reply) =>
      reply.status === 401
        ? refused(`the service at ${service.url} refused the session; check ${tokenEnv}`)
        : Effect.succeed(reply)
    )
  )

/** Opens a session for the duration of `use`, and ends it. With a token in the environment that session is used and remains. */
export const withService = <A>(
  service: ServiceAddress,
  use: (client: AdminClient) => Effect.Effect<A, ExitWith>
): Effect.Effect<A, ExitWith, Prompt.Environment> =>
  Effect.gen(function* () {
    const existing = process.env[tokenEnv] ?? ""
    if (existing !== "") return yield* use(yield* clientWith(service, Redacted.make(existing)))
    const username = process.env[service.usernameEnv] ?? ""
    if (username === "") {
      return yield* refused(
        `the administration of the service at ${service.url} needs a login: set ${service.usernameEnv} and ${service.passwordEnv}, or ${tokenEnv}`
      )
    }
    const password = yield* readPassword(service)
    return yield* Effect.acquireUseRelease(
      Effect.flatMap(login(service, username, password), (token) => clientWith(service, token)),
      use,
      ({ sessions }) => Effect.ignore(sessions.logout())
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
  const { login: endpoints } = yield* makeAdminClient(sendTo({ url: service.url }))
  const opened = endpoints.login({ payload: { username, password: Redacted.value(password) } })
  const { token } = yield* request(
    Effect.catchTags(opened, {
      Unauthorized: () =>
        refused(
          `the service at ${service.url} refused the login; check ${service.usernameEnv} and ${service.passwordEnv}`
        ),
      NotFound: (problem) =>
        refused(`no administration at ${service.url}/api/admin: ${detail(problem)}; check the address and the prefix`),
      BadRequest: (problem) => unexpected(service, problem)
    })
  )
  return Redacted.make(token)
})

const unexpected = ({ url }: ServiceAddress, problem: ProblemReply) =>
  new ExitWith({ code: 3, message: `the service at ${url} responded with ${problem.status}: ${detail(problem)}` })
