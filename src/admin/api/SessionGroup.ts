/** Defines the endpoints of sessions. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { AccessRole } from "../../domain/AccessRole.ts"
import { AdminSession } from "../../store/AdminSessions.ts"
import { describe } from "./Describe.ts"
import { count, maybeTime, text, time } from "./Fields.ts"
import { bodyText, byId } from "./Parameters.ts"
import { Forbidden, NotFound, TooManyRequestsResponse, UnauthorizedResponse, UnavailableResponse } from "./Problems.ts"
import { Audited, Authenticated, ValidRequest } from "./Rules.ts"
import { shown } from "./Shown.ts"

const Login = Schema.Struct({ username: bodyText("User name"), password: bodyText("Password") }).annotate({
  identifier: "Login"
})

const Session = Schema.Struct({
  token: text("Value of `authorization: Bearer …`"),
  expires_at: time("End of the session")
}).annotate({ identifier: "Session" })

const LinkSession = Schema.Struct({ username: text("User"), ...Session.fields }).annotate({
  identifier: "LinkSession"
})

/** Longer than the responses of providers. */
const maxResponse = 8192

export class LoginGroup extends HttpApiGroup.make("login")
  .add(
    HttpApiEndpoint.get("methods", "/login/methods", {
      success: Schema.Struct({
        oidc: Schema.Boolean.annotate({ description: "True if people log in at the provider of the organization" })
      }),
      error: NotFound
    }).annotateMerge(describe("List ways to log in", "Returns which ways exist beside the password.")),
    HttpApiEndpoint.post("startOidc", "/login/oidc", {
      success: Schema.Struct({
        url: text("Page of the provider"),
        binding: text("Secret of this login, for its end; it belongs to the tab that began it")
      }),
      error: [NotFound, UnavailableResponse]
    }).annotateMerge(
      describe("Begin a login by OpenID Connect", "Returns the page of the provider, and a secret that ends the login.")
    ),
    HttpApiEndpoint.post("finishOidc", "/login/oidc/finish", {
      payload: Schema.Struct({
        binding: bodyText("Secret of the login"),
        response: Schema.String.annotate({
          description: "Query with which the provider returned to the dashboard"
        }).check(Schema.isMaxLength(maxResponse, { message: `expected at most ${maxResponse} characters` }))
      }).annotate({ identifier: "OidcLogin" }),
      success: LinkSession,
      error: [UnauthorizedResponse, Forbidden, NotFound, TooManyRequestsResponse, UnavailableResponse]
    }).annotateMerge(
      describe(
        "End a login by OpenID Connect",
        "Exchanges the response of the provider for a session, within ten minutes. People without a role are refused."
      )
    ),
    HttpApiEndpoint.post("login", "/login", {
      payload: Login,
      success: Session,
      error: [UnauthorizedResponse, NotFound, TooManyRequestsResponse, UnavailableResponse]
    }).annotateMerge(
      describe(
        "Log in",
        "Opens a session. After five failures in five minutes an address is refused for the rest of that time."
      )
    ),
    HttpApiEndpoint.post("redeem", "/login/redeem", {
      payload: Schema.Struct({ link: bodyText("Text after `#login=` of a one-time link") }).annotate({
        identifier: "LinkLogin"
      }),
      success: LinkSession,
      error: [UnauthorizedResponse, NotFound, UnavailableResponse]
    }).annotateMerge(describe("Log in with a link", "Opens a session with a link that works once, for ten minutes."))
  )
  .middleware(ValidRequest)
  .annotateMerge(OpenApi.annotations({ title: "Login", description: "Opening a session" })) {}

export const listedSession = shown(AdminSession, {
  id: "Id, ordered by time",
  username: "User",
  role: "Role",
  createdAt: "Time of the login",
  expiresAt: "End of the session"
})

const CurrentSession = Schema.Struct({
  username: text("User"),
  role: AccessRole.annotate({ description: "Role of the user" }),
  refused: Schema.Record(Schema.String, AccessRole).annotate({
    description: "Methods and paths that this role may not request, each with the least role that may"
  }),
  expires_at: maybeTime("End of the session; absent on the local socket"),
  config_source: Schema.Boolean.annotate({ description: "True if the configuration can be edited in the database" })
}).annotate({ identifier: "CurrentSession" })

export class SessionGroup extends HttpApiGroup.make("sessions")
  .add(
    HttpApiEndpoint.get("current", "/session", { success: CurrentSession }).annotateMerge(
      describe(
        "Get the session",
        "Returns the user of the request, the role with what it may not do, and the end of the session."
      )
    ),
    HttpApiEndpoint.post("logout", "/logout", { success: HttpApiSchema.NoContent }).annotateMerge(
      describe("Log out", "Ends the session of the caller.")
    ),
    HttpApiEndpoint.post("link", "/login/link", {
      success: Schema.Struct({
        url: text("Address of the dashboard with the link"),
        expires_at: time("Time after which it does not work")
      }).annotate({ identifier: "LoginLink" }),
      error: [Forbidden, NotFound]
    }).annotateMerge(
      describe(
        "Make a login link",
        "Returns a link that opens the dashboard without a password, once. Only on the local socket of the service."
      )
    ),
    HttpApiEndpoint.get("list", "/sessions", {
      success: Schema.Struct({
        items: Schema.Array(
          Schema.Struct({
            ...listedSession.fields,
            current: Schema.Boolean.annotate({ description: "True for the session of the caller" })
          })
        )
      })
    }).annotateMerge(describe("List sessions", "Lists sessions that have not ended, newest first, at most 1000.")),
    HttpApiEndpoint.post("end", "/sessions/:id/revoke", {
      params: byId,
      success: HttpApiSchema.NoContent,
      error: NotFound
    }).annotateMerge(describe("End a session", "Ends one session, on all nodes, from its next request on.")),
    HttpApiEndpoint.post("revoke", "/sessions/revoke", {
      payload: Schema.Struct({
        keep_current: Schema.optionalKey(Schema.Boolean).annotateKey({ description: "Keeps the session of the caller" })
      }).annotate({ identifier: "Revocation" }),
      success: Schema.Struct({ revoked: count("Number of sessions that were ended") })
    }).annotateMerge(describe("End sessions", "Ends all sessions, or all but that of the caller."))
  )
  .middleware(ValidRequest)
  .middleware(Audited)
  .middleware(Authenticated)
  .annotateMerge(OpenApi.annotations({ title: "Sessions", description: "Ending sessions" })) {}
