/**
 * The HTTP server: a plain node:http listener, because the webhook path runs through it and a router would cost a third of the
 * throughput. Bounds connections, header and body time and size; knows routes and methods, not what they mean. Stopping: no new
 * connections, requests under way get five seconds.
 */
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { Clock, Context, Effect, Layer, Metric, Option } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { AdminApi, maxBodyBytes } from "../admin/AdminApi.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import { newId } from "../domain/Ids.ts"
import type { TriggerKind } from "../domain/Kinds.ts"
import { OwnAccounts } from "../forge/OwnAccounts.ts"
import { webhookDecisions, webhookDuration } from "../observability/Metrics.ts"
import { Queue } from "../queue/Queue.ts"
import type { Batches } from "../store/Batches.ts"
import { Receipts } from "../store/Receipts.ts"
import type { Answer } from "./Answers.ts"
import * as Answers from "./Answers.ts"
import { BodyReader, declaresMore } from "./Body.ts"
import { Connections } from "./Connections.ts"
import { dashboard } from "./Dashboard.ts"
import { alive, makeReadiness } from "./Health.ts"
import type { ReadyCheck } from "./Health.ts"
import { Intake } from "./Intake.ts"
import { listen, stop } from "./Listening.ts"
import { respond, respondRaw } from "./Respond.ts"
import type { Route } from "./Routes.ts"
import { methodsOf, normalisePrefix, routeOf } from "./Routes.ts"
import { makeTriggers } from "./Triggers.ts"
import { Wake } from "./Wake.ts"
import { makeWebhooks } from "./Webhooks.ts"

export interface IngressOptions {
  /** Instead of server.port; 0 takes a free one. */
  readonly port?: number | undefined
  readonly headersTimeoutMillis?: number | undefined
  /** For the whole request. Hosts give up after 10 to 30 seconds. */
  readonly requestTimeoutMillis?: number | undefined
  readonly maxConnections?: number | undefined
  /** Requests under way at stop. */
  readonly graceMillis?: number | undefined
  /** False: deliveries are other nodes' work, and their paths are unknown here. */
  readonly receives?: boolean | undefined
  /** False: the dashboard is on other nodes. */
  readonly dashboard?: boolean | undefined
  /** What `/readyz` asks besides the stores. */
  readonly ready?: ReadonlyArray<ReadyCheck> | undefined
}

const mebibyte = 1024 * 1024

export class IngressServer extends Context.Service<
  IngressServer,
  {
    readonly port: number
    /** Where to reach it from this machine, with the path prefix and without a trailing slash. */
    readonly url: string
  }
>()("aicr/ingress/IngressServer") {
  static readonly layerWith = (options: IngressOptions) =>
    Layer.effect(
      IngressServer,
      Effect.suspend(() => make(options))
    )
  static readonly layer = IngressServer.layerWith({})
}

const make = Effect.fnUntraced(function* (options: IngressOptions) {
  const config = yield* ConfigStore
  const queue = yield* Queue
  const receipts = yield* Receipts
  const wake = yield* Wake
  const ownAccounts = yield* OwnAccounts
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<Queue | Receipts | Batches>()
  const run = Effect.runForkWith(context)
  const { server: settings } = config.current().document
  const prefix = normalisePrefix(settings.path_prefix)
  const admin = yield* Effect.serviceOption(AdminApi)
  const runAnswer = Effect.runPromiseWith(context)

  const warned = new Set<string>()
  const intake = new Intake(context)
  yield* Effect.addFinalizer(() => intake.close)
  const readiness = yield* makeReadiness(intake, options.ready ?? [])
  const count = counter(context)
  const webhooks = makeWebhooks({
    config,
    ownAccounts,
    wake,
    intake,
    cancelWaiting: (target) => {
      run(cancelWaiting(queue, receipts, target))
    },
    warnOpen: (trigger) => {
      if (warned.has(trigger)) return
      warned.add(trigger)
      run(
        Effect.logWarning(
          `Trigger ${trigger} has no webhook secret: anyone can send it deliveries. Set webhook_secret_env for it.`
        )
      )
    },
    count
  })
  let keylessSaid = false
  const triggers = makeTriggers({
    config,
    wake,
    intake,
    warnKeyless: () => {
      if (keylessSaid) return
      keylessSaid = true
      run(
        Effect.logWarning(
          "A call of /triggers was refused: no API key is configured. Set server.auth.api_key_env, or auth.api_key_env of a workspace."
        )
      )
    },
    count
  })
  const bodies = new BodyReader(Math.max(256, settings.webhook_body_limit_mb * 4) * mebibyte)

  /** Reads the body within bounds and hands it on; undefined when the sender went away. */
  const received = async (
    request: IncomingMessage,
    handle: (body: Uint8Array, now: number) => Promise<Answer>
  ): Promise<Answer | undefined> => {
    const startedAt = performance.now()
    const limit = config.current().document.server.webhook_body_limit_mb * mebibyte
    const body = await bodies.read(request, limit)
    switch (body._tag) {
      case "Aborted":
        return undefined
      case "TooLarge":
        return Answers.bodyTooLarge(limit)
      case "Busy":
        return Answers.bodiesTooMany
      case "Read": {
        const now = clock.currentTimeMillisUnsafe()
        const answer = await handle(body.bytes, now)
        webhookDuration.updateUnsafe((performance.now() - startedAt) / 1000, context)
        return answer
      }
    }
  }

  const answer = (route: Route, request: IncomingMessage, id: string): Promise<Answer | undefined> | Answer => {
    switch (route._tag) {
      case "Webhook": {
        const { kind } = route
        const { headers } = request
        return (
          webhooks.preflight(kind) ??
          received(request, (body, now) => webhooks.handle({ id, kind, headers, body, now }))
        )
      }
      case "Trigger": {
        const { path } = route
        const { headers } = request
        return (
          triggers.preflight(path, headers) ??
          received(request, (body, now) => triggers.handle({ id, path, headers, body, now }))
        )
      }
      case "Health":
        return alive
      case "Ready":
        return runAnswer(readiness)
      case "Metrics":
        return config.current().document.server.metrics.enabled
          ? Answers.text(200, "text/plain; version=0.0.4; charset=utf-8", PrometheusMetrics.formatUnsafe(context))
          : Answers.notFound("Metrics are off (server.metrics.enabled).")
      case "Dashboard":
        return dashboard(config.current(), prefix)
      case "Admin":
        return Option.isSome(admin) ? administered(admin.value, route.path, request) : Answers.notFound()
    }
  }

  const administered = async (
    api: AdminApi["Service"],
    path: string,
    request: IncomingMessage
  ): Promise<Answer | undefined> => {
    const body = await bodies.read(request, maxBodyBytes)
    if (body._tag === "Aborted") return undefined
    if (body._tag === "TooLarge") return Answers.bodyTooLarge(maxBodyBytes)
    if (body._tag === "Busy") return Answers.bodiesTooMany
    const question = request.url?.indexOf("?") ?? -1
    return runAnswer(
      api.handle({
        method: request.method ?? "GET",
        path,
        query: new URLSearchParams(question === -1 ? "" : request.url?.slice(question + 1)),
        headers: request.headers,
        address: request.socket.remoteAddress ?? "",
        body: body.bytes
      })
    )
  }

  let stopping = false

  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = newId()
    connections.carries(request.socket, response)
    try {
      const route = routeOf(prefix, request.url ?? "/")
      if (route === undefined || !isOffered(route, options))
        return respond(request, response, id, unread(request, Answers.notFound()), stopping)
      const allowed = methodsOf(route)
      if (!allowed.split(", ").includes(request.method ?? "")) {
        return respond(request, response, id, unread(request, Answers.methodNotAllowed(allowed)), stopping)
      }
      const found = await answer(route, request, id)
      if (found !== undefined) respond(request, response, id, found, stopping)
    } catch (defect) {
      run(Effect.logError(`Request ${id} failed`, defect))
      respond(request, response, id, Answers.internalError, stopping)
    }
  }

  const server = createServer(
    {
      headersTimeout: options.headersTimeoutMillis ?? 10_000,
      requestTimeout: options.requestTimeoutMillis ?? 30_000,
      connectionsCheckingInterval: Math.min(1000, (options.requestTimeoutMillis ?? 30_000) / 4),
      keepAliveTimeout: 65_000,
      maxHeaderSize: 32 * 1024
    },
    listener
  )
  const connections = new Connections(server)
  server.maxConnections = options.maxConnections ?? 2048
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    // The sender asked before sending: a body that is too large is refused unsent.
    if (!declaresMore(request, config.current().document.server.webhook_body_limit_mb * mebibyte)) {
      response.writeContinue()
    }
    void listener(request, response)
  })
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (!socket.writable || error.code === "ECONNRESET" || connections.isAnswering(socket)) socket.destroy()
    else respondRaw(socket, newId(), refusalOf(error.code))
  })

  yield* Effect.acquireRelease(listen(server, options.port ?? settings.port, settings.hostname), () =>
    Effect.suspend(() => {
      stopping = true
      return stop(server, connections, options.graceMillis ?? 5000)
    })
  )
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : settings.port
  const host = settings.hostname === "0.0.0.0" || settings.hostname === "::" ? "127.0.0.1" : settings.hostname
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}${prefix}`
  yield* Effect.logInfo(`Listening on ${url}`)
  return IngressServer.of({ port, url })
})

const isOffered = ({ _tag }: Route, { dashboard: shown, receives }: IngressOptions): boolean =>
  _tag === "Webhook" || _tag === "Trigger"
    ? receives !== false
    : (_tag !== "Dashboard" && _tag !== "Admin") || shown !== false

/** An answer given without reading the body ends the connection when there is one. */
const unread = (request: IncomingMessage, answer: Answer): Answer =>
  request.headers["content-length"] === undefined && request.headers["transfer-encoding"] === undefined
    ? answer
    : { ...answer, close: true }

const refusalOf = (code: string | undefined): Answer => {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return Answers.requestTimeout
  if (code === "HPE_HEADER_OVERFLOW") return Answers.headersTooLarge
  return Answers.badRequest
}

const counter = (context: Context.Context<never>) => {
  const series = new Map<string, Metric.Counter<number>>()
  return (provider: TriggerKind, decision: string, reason: string): void => {
    const key = `${provider} ${decision} ${reason}`
    let metric = series.get(key)
    if (metric === undefined) {
      metric = Metric.withAttributes(webhookDecisions, { provider, decision, reason })
      series.set(key, metric)
    }
    metric.updateUnsafe(1, context)
  }
}

const cancelWaiting = (queue: Queue["Service"], receipts: Receipts["Service"], target: string) =>
  Effect.gen(function* () {
    const { ended } = yield* queue.cancel(target, "closed")
    const events = ended.flatMap((entry) => entry.events)
    if (events.length === 0) return
    yield* receipts.settle(events, { outcome: "cancelled", reason: "closed" }, yield* Clock.currentTimeMillis)
  }).pipe(
    // The run finds the pull request closed by itself; nothing is lost but time.
    Effect.catch((error) => Effect.logWarning(`Waiting work of a closed pull request not cancelled: ${error.message}`))
  )
