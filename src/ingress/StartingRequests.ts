/**
 * Responds to requests while the node starts and waits for its servers: it is alive and not ready, and nothing can be stored, so hosts have
 * to resend their deliveries. Bodies are not read.
 */
import type { Context } from "effect"
import { renderMetrics } from "../observability/MetricsText.ts"
import type { IngressResponse } from "./Responses.ts"
import * as Responses from "./Responses.ts"
import { listMethods, parseRoute } from "./Routes.ts"
import type { Route } from "./Routes.ts"

interface StartingParts {
  readonly prefix: string
  readonly servesMetrics: boolean
  /** Returns the servers that are awaited now. */
  readonly awaited: () => ReadonlyArray<string>
  readonly context: Context.Context<never>
}

interface RequestLine {
  readonly url?: string | undefined
  readonly method?: string | undefined
}

/** Routes that `isOffered` rejects do not exist. Every response closes its connection, so that the next request reaches the started node. */
export const respondWhileStarting = (
  parts: StartingParts,
  request: RequestLine,
  isOffered: (route: Route) => boolean
): IngressResponse => ({ ...responseTo(parts, request, isOffered), close: true })

const responseTo = (
  { awaited, context, prefix, servesMetrics }: StartingParts,
  { method = "", url = "/" }: RequestLine,
  isOffered: (route: Route) => boolean
): IngressResponse => {
  const route = parseRoute(prefix, url)
  if (route === undefined || !isOffered(route)) return Responses.notFound()
  const allowed = listMethods(route)
  if (!allowed.split(", ").includes(method)) return Responses.methodNotAllowed(allowed)
  switch (route._tag) {
    case "Webhook":
    case "Trigger":
    case "ChatCallback":
      return Responses.unavailable("starting")
    case "Health":
      return Responses.health(200, { status: "up" })
    case "Ready":
      return Responses.health(503, { status: "starting", not_ready: awaited() })
    case "Metrics":
      return servesMetrics ? Responses.metrics(renderMetrics(context)) : Responses.metricsOff
    case "Dashboard":
    case "Developers":
    case "SharedReview":
    case "Admin":
    case "Mcp":
    case "ApiDescription":
      return Responses.starting
  }
}
