/**
 * Serves `/api/admin`: checks that the administration is enabled, authenticates, and dispatches. Without a session only the login responds,
 * and no response reveals which paths exist.
 */
import { Effect, Layer } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import { AdminApi } from "./AdminApi.ts"
import type { AdminResponse, AdminRequest } from "./AdminApi.ts"
import { readAdminCredentials, howToTurnOn } from "./AdminCredentials.ts"
import type { AdminSessions } from "../store/AdminSessions.ts"
import type { LoginAttempts } from "../store/LoginAttempts.ts"
import { notFound, problem, AdminRefusal } from "./Answers.ts"
import type { Handler, RouteFailure, Services } from "./Handler.ts"
import { login, logout, revoke } from "./Login.ts"
import { routes } from "./Routes.ts"
import { findSession, tokenIn } from "./Sessions.ts"

const unauthorized = new AdminRefusal({
  status: 401,
  code: "unauthorized",
  detail: "Log in first: this needs the token of a session that has not ended.",
  headers: { "www-authenticate": 'Bearer realm="admin"' }
})

const methodNotAllowed = (allowed: string): AdminRefusal =>
  new AdminRefusal({
    status: 405,
    code: "method_not_allowed",
    detail: `Allowed here: ${allowed}.`,
    headers: { allow: allowed }
  })

interface Found {
  readonly handlers: Readonly<Partial<Record<string, Handler>>>
  readonly id: string
}

/** Returns the route of a path and the value of its `:id`. */
const find = (path: string): Found | undefined => {
  const exact = routes[path]
  if (exact !== undefined && !path.includes(":")) return { handlers: exact, id: "" }
  const [, place = "", id = "", ...rest] = path.split("/")
  const handlers = id === "" ? undefined : routes[["", place, ":id", ...rest].join("/")]
  return handlers === undefined ? undefined : { handlers, id: id.slice(0, 128) }
}

const answer = Effect.fnUntraced(function* (
  request: AdminRequest
): Effect.fn.Return<AdminResponse, RouteFailure, AdminSessions | ConfigStore | LoginAttempts | Services> {
  const snapshot = (yield* ConfigStore).current()
  const credentials = readAdminCredentials(snapshot)
  if (credentials === undefined) return yield* notFound(howToTurnOn(snapshot))
  const path = request.path.length > 1 && request.path.endsWith("/") ? request.path.slice(0, -1) : request.path
  if (path === "/login") {
    return request.method === "POST" ? yield* login(request, credentials) : yield* methodNotAllowed("POST")
  }
  const token = tokenIn(request.headers["authorization"])
  const session = token === undefined ? undefined : yield* findSession(token, credentials)
  if (token === undefined || session === undefined) return yield* unauthorized
  const own = path === "/logout" ? logout : path === "/sessions/revoke" ? revoke : undefined
  if (own !== undefined) {
    return request.method === "POST" ? yield* own(request, token, credentials) : yield* methodNotAllowed("POST")
  }
  return yield* dispatch(request, path, session.username)
})

/** Calls the handler of the path and the method. */
const dispatch = Effect.fnUntraced(function* (
  request: AdminRequest,
  path: string,
  username: string
): Effect.fn.Return<AdminResponse, RouteFailure, Services> {
  const found = find(path)
  if (found === undefined) return yield* notFound("This path does not exist.")
  const handler = found.handlers[request.method === "HEAD" ? "GET" : request.method]
  if (handler === undefined) return yield* methodNotAllowed(Object.keys(found.handlers).join(", "))
  return yield* handler({ ...request, id: found.id, username })
})

/** Header with the name of a local user, for the log and the records. */
const localUserHeader = "x-aicr-user"

/** Returns the name of a local user, which the operating system has not verified. */
const readLocalUser = ({ headers }: AdminRequest): string => {
  const name = headers[localUserHeader]
  return typeof name === "string" && /^[\w.-]{1,64}$/.test(name) ? name : "local"
}

const unavailable = (message: string): Effect.Effect<AdminResponse> =>
  Effect.as(
    Effect.logError("administration request failed", { error: message }),
    problem(
      new AdminRefusal({
        status: 503,
        code: "unavailable",
        detail: "A server that this request needs is unavailable; see the service's log.",
        headers: { "retry-after": "5" }
      })
    )
  )

export const layer = Layer.effect(
  AdminApi,
  Effect.gen(function* () {
    const context = yield* Effect.context<AdminSessions | ConfigStore | LoginAttempts | Services>()
    const responding = (
      handled: Effect.Effect<AdminResponse, RouteFailure, AdminSessions | ConfigStore | LoginAttempts | Services>
    ) =>
      handled.pipe(
        Effect.catchTags({
          AdminRefusal: (refusal) => Effect.succeed(problem(refusal)),
          NodesError: ({ message }) => unavailable(message),
          QueueError: ({ message }) => unavailable(message),
          StoreError: ({ message }) => unavailable(message)
        }),
        Effect.provide(context)
      )
    return AdminApi.of({
      handle: (request) => responding(answer(request)),
      handleLocal: (request) => responding(dispatch(request, request.path, readLocalUser(request)))
    })
  })
)
