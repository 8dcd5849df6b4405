/**
 * The ports of the node. They are open from the start of the process, before any store is: while the node waits for its servers, probes and
 * hosts get a response. The requests are handled by the ingress once it is built.
 */
import { Cause, Context, Effect, Exit, Layer, Scope } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { ServerConfig } from "../config/schema/Server.ts"
import { AwaitedServers } from "./AwaitedServers.ts"
import { currentClients } from "./ClientAddress.ts"
import { connectionObserver } from "./ConnectionCounts.ts"
import { startListener } from "./HttpListener.ts"
import type { Exchange, ListenerSettings } from "./HttpListener.ts"
import type { IngressError } from "./Listening.ts"
import type { IngressResponse } from "./Responses.ts"
import { normalisePrefix } from "./Routes.ts"
import type { Route } from "./Routes.ts"
import { respondWhileStarting } from "./StartingRequests.ts"

/** Decides which routes each port serves: one port for everything, or further ports for the administration and for metrics. Pure. */

type Part = "deliveries" | "admin" | "metrics"

const partOf = {
  Webhook: "deliveries",
  Trigger: "deliveries",
  ChatCallback: "deliveries",
  Dashboard: "admin",
  ApiDescription: "admin",
  Admin: "admin",
  Mcp: "admin",
  Metrics: "metrics",
  // Probes may come to any port, and the page for developers and shared reviews are public.
  Developers: undefined,
  SharedReview: undefined,
  Health: undefined,
  Ready: undefined
} as const satisfies Record<Route["_tag"], Part | undefined>

interface Port {
  readonly port: number
  readonly serves: (route: Route) => boolean
}

/** Returns the main port first. Parts with the same port share it. */
export const listPorts = (
  settings: Pick<ServerConfig, "admin_port" | "metrics_port">,
  main: number
): readonly [Port, ...ReadonlyArray<Port>] => {
  const portOf: Readonly<Record<Part, number>> = {
    deliveries: main,
    admin: settings.admin_port ?? main,
    metrics: settings.metrics_port ?? main
  }
  const toPort = (port: number): Port => ({
    port,
    serves: (route) => {
      const part = partOf[route._tag]
      return part === undefined || portOf[part] === port
    }
  })
  const others = [...new Set([portOf.admin, portOf.metrics])].filter((port) => port !== main)
  return [toPort(main), ...others.map(toPort)]
}

export interface PortOptions {
  /** Overrides server.port; 0 selects a free one. */
  readonly port?: number | undefined
  readonly headersTimeoutMillis?: number | undefined
  /** Timeout of the whole request. Hosts give up after 10 to 30 seconds. */
  readonly requestTimeoutMillis?: number | undefined
  /** Time for requests in progress when the server stops. */
  readonly graceMillis?: number | undefined
  /** False if other nodes receive deliveries, whose paths are unknown here. */
  readonly receives?: boolean | undefined
  /** False if other nodes serve the dashboard. */
  readonly dashboard?: boolean | undefined
}

type Handled = Promise<IngressResponse | undefined> | IngressResponse
/** Responds to a request; routes that `isOffered` rejects do not exist. Undefined: the sender disconnected. */
export type RequestHandler = (exchange: Exchange, isOffered: (route: Route) => boolean) => Handled

export class OpenPorts extends Context.Service<
  OpenPorts,
  {
    readonly port: number
    /** Local URL of the main port, with the path prefix and without a trailing slash. */
    readonly url: string
    /** Whether this node serves the dashboard. */
    readonly hasDashboard: boolean
    /**
     * Hands requests to this handler. The end of the scope closes the ports: they accept no more connections, and requests in progress get
     * `graceMillis`. After a failed start, which is repeated, they stay open and respond as before.
     */
    readonly serve: (handler: RequestHandler) => Effect.Effect<void, never, Scope.Scope>
  }
>()("aicr/ingress/OpenPorts") {
  static readonly layer = (options: PortOptions): Layer.Layer<OpenPorts, IngressError, AwaitedServers | ConfigStore> =>
    Layer.effect(OpenPorts, open(options))
}

const open = Effect.fnUntraced(function* (options: PortOptions) {
  const config = yield* ConfigStore
  const awaited = yield* AwaitedServers
  const context = yield* Effect.context<never>()
  const settings = config.current().document.server
  const prefix = normalisePrefix(settings.path_prefix)
  const starting = { prefix, servesMetrics: settings.metrics.enabled, awaited: awaited.names, context }
  const handleStarting: RequestHandler = ({ request }, isOffered) => respondWhileStarting(starting, request, isOffered)
  let handle = handleStarting
  const clients = currentClients(config)
  const listener: Omit<ListenerSettings, "port" | "handle"> = {
    hostname: settings.hostname,
    connections: {
      total: settings.limits.connections,
      perClient: settings.limits.connections_per_client,
      isProxy: (address) => clients().isProxy(address)
    },
    headersTimeoutMillis: options.headersTimeoutMillis ?? 10_000,
    requestTimeoutMillis: options.requestTimeoutMillis ?? 30_000,
    graceMillis: options.graceMillis ?? 5000,
    observer: connectionObserver(context),
    onDefect: (id, defect) =>
      void Effect.runForkWith(context)(Effect.logError("request failed", { request_id: id }, defect))
  }
  const scope = yield* Scope.make()
  const close = Scope.close(scope, Exit.void)
  yield* Effect.addFinalizer(() => close)
  const listenOn = ({ port, serves }: Port) =>
    startListener({
      ...listener,
      port,
      handle: (exchange) => handle(exchange, (route) => serves(route) && isOffered(route, options))
    }).pipe(Scope.provide(scope))
  const [main, ...others] = listPorts(settings, options.port ?? settings.port)
  const port = yield* listenOn(main)
  for (const other of others) yield* listenOn(other)
  return OpenPorts.of({
    port,
    url: `http://${localHost(settings)}:${port}${prefix}`,
    hasDashboard: options.dashboard !== false,
    serve: (handler) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          handle = handler
        }),
        (_, exit) => {
          if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return close
          handle = handleStarting
          return Effect.void
        }
      )
  })
})

const localHost = ({ hostname }: ServerConfig): string => {
  const host = hostname === "0.0.0.0" || hostname === "::" ? "127.0.0.1" : hostname
  return host.includes(":") ? `[${host}]` : host
}

const isOffered = ({ _tag }: Route, { dashboard, receives }: PortOptions): boolean =>
  _tag === "Webhook" || _tag === "Trigger" || _tag === "ChatCallback"
    ? receives !== false
    : (_tag !== "Dashboard" && _tag !== "Admin" && _tag !== "Mcp" && _tag !== "ApiDescription") || dashboard !== false
