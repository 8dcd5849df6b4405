/** Starts the parts that handle requests of the HTTP server. */
import { Context, Effect, Layer } from "effect"
import { AdminApi } from "../admin/AdminApi.ts"
import { readAdminCredentials } from "../admin/AdminCredentials.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { ServerConfig } from "../config/schema/Server.ts"
import type { NodeVersion } from "../domain/NodeWarnings.ts"
import type { CatchUps } from "../store/CatchUps.ts"
import type { RejectedSignatures } from "../store/RejectedSignatures.ts"
import { SignatureCounts } from "./SignatureCounts.ts"
import { ChatRequests } from "../store/ChatRequests.ts"
import { BodyReader, smallBytes } from "./Body.ts"
import { Dashboard } from "./Dashboard.ts"
import { requestSearches } from "./MissedDeliveries.ts"
import { makeDeliveryLog } from "./DeliveryLog.ts"
import { makeChatCallbacks } from "./ChatCallbacks.ts"
import { makeProbes } from "./Health.ts"
import type { ReadyCheck } from "./Health.ts"
import { makeReceiving } from "./Receiving.ts"
import type { ReceivingStores } from "./Receiving.ts"
import { Requests } from "./Requests.ts"
import { AwaitedServers } from "./AwaitedServers.ts"
import { OpenPorts } from "./OpenPorts.ts"
import type { PortOptions } from "./OpenPorts.ts"
import { normalisePrefix } from "./Routes.ts"
import { StoredFacts } from "./StoredFacts.ts"

export interface IngressOptions extends PortOptions {
  /** Time for which a body may be slower than `server.limits.body_min_rate`. */
  readonly slowBodyMillis?: number | undefined
  /** Checks of `/readyz` in addition to the stores. */
  readonly ready?: ReadonlyArray<ReadyCheck> | undefined
  /** Nodes of the cluster, which `/readyz` compares. */
  readonly nodes?: Effect.Effect<ReadonlyArray<NodeVersion>, unknown> | undefined
  /** Checks of `/healthz`: failures that a restart of the process may end. */
  readonly alive?: ReadonlyArray<ReadyCheck> | undefined
}

const mebibyte = 1024 * 1024

export class IngressServer extends Context.Service<
  IngressServer,
  {
    readonly port: number
    /** Local URL of the server, with the path prefix and without a trailing slash. */
    readonly url: string
  }
>()("aicr/ingress/IngressServer") {
  /** Serves the ports that are open already. */
  static readonly layerOnPorts = (options: Omit<IngressOptions, keyof PortOptions>) =>
    Layer.effect(
      IngressServer,
      Effect.suspend(() => make(options))
    )
  /** Opens the ports and serves them. */
  static readonly layerWith = (options: IngressOptions) =>
    IngressServer.layerOnPorts(options).pipe(
      Layer.provide(OpenPorts.layer(options)),
      Layer.provide(AwaitedServers.layer)
    )
}

/** Budget of bodies beyond their first 64 KiB: 256 MiB less the sum of the latter, or four of the largest. */
const bodyReader = ({ limits, webhook_body_limit_mb }: ServerConfig, slowBodyMillis: number): BodyReader => {
  const largest = webhook_body_limit_mb * mebibyte
  return new BodyReader({
    totalBytes: Math.max(256 * mebibyte - limits.connections * smallBytes, 4 * largest),
    clientBytes: Math.max(limits.body_mb_per_client * mebibyte, largest),
    minRate: limits.body_min_rate,
    graceMillis: slowBodyMillis
  })
}

const make = Effect.fnUntraced(function* (options: Omit<IngressOptions, keyof PortOptions>) {
  const config = yield* ConfigStore
  const facts = yield* StoredFacts
  const context = yield* Effect.context<ReceivingStores | RejectedSignatures | CatchUps>()
  const run = Effect.runForkWith(context)
  const { server: settings } = config.current().document
  const prefix = normalisePrefix(settings.path_prefix)
  const rejected = new SignatureCounts(context)
  yield* Effect.addFinalizer(() => rejected.close)
  const missed = yield* requestSearches
  const { intake, misdirected, triggers, webhooks } = yield* makeReceiving((line) => {
    const log = makeDeliveryLog(line, rejected)
    return {
      ...log,
      refused: (kind, ...more) => {
        missed.refused(kind)
        log.refused(kind, ...more)
      }
    }
  })
  const dashboard = new Dashboard(
    (error) => void run(Effect.logError("the dashboard could not be built", { error: String(error) }))
  )
  const ports = yield* OpenPorts
  // Builds what is missing while the service starts, not during the first request.
  if (ports.hasDashboard && readAdminCredentials(config.current()) !== undefined) void dashboard.prepare()
  const requests = new Requests({
    config,
    prefix,
    dashboard,
    bodies: bodyReader(settings, options.slowBodyMillis ?? 5000),
    webhooks,
    misdirected,
    refusedForLoad: missed.refused,
    triggers,
    chat: makeChatCallbacks({ config, requests: yield* ChatRequests, facts }),
    admin: yield* Effect.serviceOption(AdminApi),
    ...(yield* makeProbes(intake, options)),
    run: Effect.runPromiseWith(context),
    context
  })

  yield* ports.serve((exchange, isOffered) => requests.handle(exchange, isOffered))
  const { port, url } = ports
  yield* Effect.logInfo("listening", {
    url,
    ...(settings.admin_port === undefined ? {} : { admin_port: settings.admin_port }),
    ...(settings.metrics_port === undefined ? {} : { metrics_port: settings.metrics_port })
  })
  return IngressServer.of({ port, url })
})
