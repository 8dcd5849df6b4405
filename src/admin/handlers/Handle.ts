/**
 * Serves the administration with the router of its definition (src/admin/api): converts requests and responses, and responds to paths and
 * methods that the definition lacks. Without a session only the login responds, and no response reveals which paths exist.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerRespondable, HttpServerResponse } from "effect/http"
import type { HttpServerError } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import type { Forges } from "../../forge/Forges.ts"
import type { ProviderStates } from "../../llm/ProviderStates.ts"
import type { Operations } from "../../queue/operator/Operations.ts"
import type { Progress } from "../../observability/Progress.ts"
import type { QueueControl } from "../../queue/operator/QueueControl.ts"
import type { Queue } from "../../queue/Queue.ts"
import type { AdminActions } from "../../store/AdminActions.ts"
import type { AdminSessions } from "../../store/AdminSessions.ts"
import type { Batches } from "../../store/Batches.ts"
import type { ChatHealths } from "../../store/ChatHealths.ts"
import type { ChatRequests } from "../../store/ChatRequests.ts"
import type { Notices } from "../../store/Notices.ts"
import type { Ledger } from "../../store/Ledger.ts"
import type { LoginAttempts } from "../../store/LoginAttempts.ts"
import type { CatchUps } from "../../store/CatchUps.ts"
import type { Inventories } from "../../store/Inventories.ts"
import type { Objects } from "../../store/Objects.ts"
import { makeSharedReviews } from "./SharedReviews.ts"
import { Outbox } from "../../store/Outbox.ts"
import type { Outcomes } from "../../store/Outcomes.ts"
import type { Payloads } from "../../store/Payloads.ts"
import type { PersonRecords } from "../../store/PersonRecords.ts"
import type { ProjectRules } from "../../store/ProjectRules.ts"
import type { Receipts } from "../../store/Receipts.ts"
import type { RejectedSignatures } from "../../store/RejectedSignatures.ts"
import type { RunLogs } from "../../store/RunLogs.ts"
import { Runs } from "../../store/Runs.ts"
import type { SavedViews } from "../../store/SavedViews.ts"
import type { ServiceTokens } from "../../store/ServiceTokens.ts"
import type { Statistics } from "../../store/Statistics.ts"
import { AdminApi } from "../AdminApi.ts"
import { makeAgentRequests } from "../agents/AgentRequests.ts"
import type { AdminRequest, AdminResponse } from "../AdminApi.ts"
import { AdminHttpApi, adminPath } from "../api/AdminHttpApi.ts"
import { because, listHeaders, MethodNotAllowed, notFound } from "../api/Problems.ts"
import * as Audit from "./Audit.ts"
import * as AuditHandlers from "./AuditHandlers.ts"
import * as Authentication from "../sessions/Authentication.ts"
import * as BatchHandlers from "./BatchHandlers.ts"
import { bodyLimit } from "../http/BodyLimit.ts"
import * as BudgetHandlers from "./BudgetHandlers.ts"
import { Caller } from "../sessions/Caller.ts"
import * as ChangeHandlers from "./ChangeHandlers.ts"
import * as ChatHandlers from "./ChatHandlers.ts"
import * as ConfigHandlers from "../configuration/ConfigHandlers.ts"
import type { DeliveryReplay } from "../DeliveryReplay.ts"
import { makeDescription } from "../http/Description.ts"
import * as DraftHandlers from "../configuration/DraftHandlers.ts"
import * as EventHandlers from "./EventHandlers.ts"
import * as LiveHandlers from "./LiveHandlers.ts"
import * as NodeHandlers from "../nodes/NodeHandlers.ts"
import type { Nodes } from "../nodes/Nodes.ts"
import * as PersonHandlers from "./PersonHandlers.ts"
import * as ProjectHandlers from "./ProjectHandlers.ts"
import * as ProviderHandlers from "./ProviderHandlers.ts"
import * as QueueHandlers from "./QueueHandlers.ts"
import * as RequestRules from "../http/RequestRules.ts"
import { findMethods } from "../http/RouteTable.ts"
import * as RuleHandlers from "./RuleHandlers.ts"
import * as RunHandlers from "./RunHandlers.ts"
import { loginLayer, sessionLayer } from "../sessions/SessionHandlers.ts"
import * as StatisticsHandlers from "./StatisticsHandlers.ts"
import * as TokenHandlers from "./TokenHandlers.ts"
import * as TriggerHandlers from "./TriggerHandlers.ts"
import * as VerdictHandlers from "./VerdictHandlers.ts"
import * as ViewHandlers from "./ViewHandlers.ts"

type Services =
  | AdminActions
  | AdminSessions
  | Batches
  | ChatHealths
  | ChatRequests
  | Notices
  | ConfigStore
  | Forges
  | Inventories
  | Ledger
  | LoginAttempts
  | Nodes
  | Operations
  | CatchUps
  | Objects
  | Outbox
  | Outcomes
  | Queue
  | QueueControl
  | Payloads
  | PersonRecords
  | ProjectRules
  | ProviderStates
  | DeliveryReplay
  | Receipts
  | RejectedSignatures
  | Progress
  | RunLogs
  | Runs
  | SavedViews
  | ServiceTokens
  | Statistics

const routes = HttpApiBuilder.layer(AdminHttpApi).pipe(
  Layer.provide([
    loginLayer,
    sessionLayer,
    QueueHandlers.layer,
    BatchHandlers.layer,
    EventHandlers.layer,
    RunHandlers.layer,
    ChangeHandlers.layer,
    NodeHandlers.layer,
    ProviderHandlers.layer,
    ChatHandlers.layer,
    LiveHandlers.layer,
    AuditHandlers.layer,
    TokenHandlers.layer,
    PersonHandlers.layer,
    TriggerHandlers.layer,
    ProjectHandlers.layer,
    ConfigHandlers.layer,
    DraftHandlers.layer,
    BudgetHandlers.layer,
    RuleHandlers.layer,
    StatisticsHandlers.layer,
    VerdictHandlers.layer,
    ViewHandlers.layer
  ]),
  Layer.provide([RequestRules.layer, Audit.layer, Authentication.layer]),
  Layer.provide(HttpServer.layerServices)
)

/** Removes a trailing slash. */
const normalise = (path: string): string => (path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path)

const toServerRequest = ({ body, headers, method, path, query }: AdminRequest) => {
  const given = new Headers()
  for (const [name, value] of Object.entries(headers)) if (typeof value === "string") given.set(name, value)
  const url = `http://local${adminPath}${normalise(path)}?${query.toString()}`
  if (method === "GET" || method === "HEAD") {
    return HttpServerRequest.fromWeb(new Request(url, { method: "GET", headers: given }))
  }
  // An empty body counts as an object without fields.
  const content = body.length === 0 ? "{}" : Buffer.from(body)
  if (body.length === 0) given.set("content-type", "application/json")
  return HttpServerRequest.fromWeb(new Request(url, { method, headers: given, body: content }))
}

const fixedHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

const toResponse = (response: HttpServerResponse.HttpServerResponse): Effect.Effect<AdminResponse> =>
  Effect.promise(async () => {
    const web = HttpServerResponse.toWeb(response)
    const {
      "content-type": contentType = "application/json",
      "content-length": _,
      ...headers
    } = Object.fromEntries(web.headers)
    const head = { status: web.status, contentType, headers: { ...headers, ...fixedHeaders } }
    return contentType.startsWith("text/event-stream") && web.body !== null
      ? { ...head, body: "", stream: web.body }
      : { ...head, body: await web.text() }
  })

/** Responds to a path or a method that the definition lacks. */
const unknownRoute = Effect.fnUntraced(function* (authenticate: Authentication.Authenticate) {
  const { method, path } = (yield* Caller).request
  yield* authenticate
  const allowed = findMethods(`${adminPath}${normalise(path)}`)
  if (allowed.length === 0 || allowed.includes(method)) return yield* notFound({ _tag: "PathUnknown" })
  const reason = because({ _tag: "MethodsAllowed", methods: allowed })
  const refusal = new MethodNotAllowed({ code: "method_not_allowed", ...reason })
  return HttpServerResponse.setHeader(yield* HttpServerRespondable.toResponse(refusal), "allow", allowed.join(", "))
})

const respondUnknown = (authenticate: Authentication.Authenticate) =>
  Effect.catch(unknownRoute(authenticate), (problem) =>
    Effect.map(HttpServerRespondable.toResponse(problem), HttpServerResponse.setHeaders(listHeaders(problem)))
  )

const limitBody = (authenticate: Authentication.Authenticate) =>
  Effect.catch(bodyLimit(authenticate), (problem) =>
    HttpServerRespondable.toResponse(problem).pipe(
      Effect.map(HttpServerResponse.setHeaders(listHeaders(problem))),
      Effect.flatMap(toResponse)
    )
  )

const isRouteNotFound = (error: HttpServerError.HttpServerError): boolean => error.reason._tag === "RouteNotFound"

export const layer = Layer.effect(
  AdminApi,
  Effect.gen(function* () {
    const context = yield* Effect.context<Services>()
    const app = yield* HttpRouter.toHttpEffect(routes)
    const handleAgent = yield* makeAgentRequests
    const respondShared = makeSharedReviews()
    const authenticate = Authentication.makeAuthenticate()
    const respond = (request: AdminRequest, localUser: string | undefined): Effect.Effect<AdminResponse> =>
      app.pipe(
        Effect.catch((error) => (isRouteNotFound(error) ? respondUnknown(authenticate) : Effect.die(error))),
        Effect.flatMap(toResponse),
        Effect.provideService(HttpServerRequest.HttpServerRequest, toServerRequest(request)),
        Effect.provideService(Caller, { request, localUser }),
        Effect.scoped,
        Effect.provide(context)
      )
    return AdminApi.of({
      ...makeDescription(),
      bodyLimit: (head) =>
        Effect.provideService(limitBody(authenticate), Caller, {
          request: { ...head, body: new Uint8Array() },
          localUser: undefined
        }).pipe(Effect.provide(context)),
      handle: (request) => respond(request, undefined),
      handleShared: (request) => Effect.provide(respondShared(request), context),
      handleAgent: (request) =>
        handleAgent(request).pipe(
          Effect.provideService(Caller, { request, localUser: undefined }),
          Effect.provide(context)
        ),
      handleLocal: (request) => respond(request, readLocalUser(request))
    })
  })
)

/** Header with the name of a local user, for the log and the records. */
const localUserHeader = "x-aicr-user"

/** Returns the name of a local user, which the operating system has not verified. */
const readLocalUser = ({ headers }: AdminRequest): string => {
  const name = headers[localUserHeader]
  return typeof name === "string" && /^[\w.-]{1,64}$/.test(name) ? name : "local"
}
