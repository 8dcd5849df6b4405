/**
 * Dispatches a request: route, method, refusals without the body, the body within limits, the handler. Independent of what the routes mean.
 */
import type { IncomingMessage } from "node:http"
import { Clock, Context, Effect, Option } from "effect"
import { AdminApi, maxMessageBytes } from "../admin/AdminApi.ts"
import type { ConfigStore } from "../config/ConfigStore.ts"
import type { ForgeKind, TriggerKind } from "../domain/Kinds.ts"
import { webhookDuration } from "../observability/Metrics.ts"
import { renderMetrics } from "../observability/MetricsText.ts"
import type { ReadyResponses } from "./Health.ts"
import type { IngressResponse } from "./Responses.ts"
import { developersPage } from "./DevelopersPage.ts"
import * as Responses from "./Responses.ts"
import { declaresMore } from "./Body.ts"
import type { Body, BodyReader } from "./Body.ts"
import { clientKey, currentClients } from "./ClientAddress.ts"
import type { ClientAddresses } from "./ClientAddress.ts"
import { maxCallbackBytes } from "./ChatCallbacks.ts"
import type { ChatCallbacks } from "./ChatCallbacks.ts"
import type { Dashboard } from "./Dashboard.ts"
import type { Exchange } from "./HttpListener.ts"
import type { Route } from "./Routes.ts"
import { listMethods, parseRoute } from "./Routes.ts"
import type { TriggerPath } from "./TriggerPayload.ts"
import { callKinds } from "./Triggers.ts"
import type { Triggers } from "./Triggers.ts"
import type { Webhooks } from "./Webhooks.ts"

const mebibyte = 1024 * 1024
const administration: Route = { _tag: "Admin", path: "/" }
const probes: ReadonlySet<Route["_tag"]> = new Set(["Health", "Ready", "Metrics"])
/** Minimum interval between renderings of all metrics, which take milliseconds. */
const metricsMillis = 250

interface RequestParts {
  readonly config: ConfigStore["Service"]
  readonly prefix: string
  readonly bodies: BodyReader
  readonly webhooks: Webhooks
  /** An event of a host on a path that is none of the service. */
  readonly misdirected: (kind: ForgeKind, path: string, now: number) => void
  /** A delivery or call that is refused before its body is read, because too many are. */
  readonly refusedForLoad: (kind: TriggerKind) => void
  readonly triggers: Triggers
  readonly chat: ChatCallbacks
  readonly admin: Option.Option<AdminApi["Service"]>
  readonly dashboard: Dashboard
  readonly liveness: Effect.Effect<IngressResponse>
  readonly readiness: Effect.Effect<ReadyResponses>
  readonly run: <A>(effect: Effect.Effect<A>) => Promise<A>
  readonly context: Context.Context<never>
}

/** Caches the rendered metrics. */
class MetricsText {
  readonly #context: Context.Context<never>
  #text = ""
  #at = Number.NEGATIVE_INFINITY

  constructor(context: Context.Context<never>) {
    this.#context = context
  }

  current(): string {
    if (performance.now() - this.#at > metricsMillis) {
      this.#text = renderMetrics(this.#context)
      this.#at = performance.now()
    }
    return this.#text
  }
}

/** Headers that name the event of a delivery. A Forgejo sends those of Gitea and GitHub too, and a Gitea those of GitHub. */
const eventHeaders: ReadonlyArray<readonly [name: string, kind: ForgeKind]> = [
  ["x-forgejo-event", "forgejo"],
  ["x-gitea-event", "gitea"],
  ["x-gitlab-event", "gitlab"],
  ["x-github-event", "github"]
]

/** Returns the kind of the host that sent an event; undefined for another request. */
const eventSender = (headers: IncomingMessage["headers"]): ForgeKind | undefined =>
  eventHeaders.find(([name]) => headers[name] !== undefined)?.[1]

const joined = (blocks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first] = blocks
  return first !== undefined && blocks.length === 1 ? first : Buffer.concat(blocks)
}

type Handled = Promise<IngressResponse | undefined> | IngressResponse

/** A response to a request whose body is unread closes the connection. */
const unread = (request: IncomingMessage, reply: IngressResponse): IngressResponse =>
  request.headers["content-length"] === undefined && request.headers["transfer-encoding"] === undefined
    ? reply
    : { ...reply, close: true }

/** Makes the response of a refusal by the headers, and records it. */
type Refusal = () => IngressResponse

type BodyResult =
  | Extract<Body, { readonly _tag: "Read" }>
  /** Undefined: the sender disconnected. */
  | { readonly _tag: "Refused"; readonly response: IngressResponse | undefined }

const release = (body: BodyResult): void => {
  if (body._tag === "Read") body.release()
}

/** Responds to the requests of all listeners. */
export class Requests {
  readonly #parts: RequestParts
  readonly #clock: Clock.Clock
  readonly #metrics: MetricsText
  readonly #clients: () => ClientAddresses

  constructor(parts: RequestParts) {
    this.#parts = parts
    this.#clock = Context.get(parts.context, Clock.Clock)
    this.#metrics = new MetricsText(parts.context)
    this.#clients = currentClients(parts.config)
  }

  /** A `RequestHandler`. */
  handle(exchange: Exchange, isOffered: (route: Route) => boolean): Handled {
    const { request } = exchange
    const route = parseRoute(this.#parts.prefix, request.url ?? "/")
    if (route === undefined || !isOffered(route)) {
      this.#noteEvent(request)
      return unread(request, Responses.notFound())
    }
    if (exchange.forProbes && !probes.has(route._tag)) return Responses.connectionsTooMany
    const allowed = listMethods(route)
    if (!allowed.split(", ").includes(request.method ?? "")) {
      this.#noteEvent(request)
      return unread(request, Responses.methodNotAllowed(allowed))
    }
    return this.#respond(route, exchange, isOffered)
  }

  /** Notes the event of a host whose webhook has a wrong URL. Its payload is not read. */
  #noteEvent({ headers, method, url = "/" }: IncomingMessage): void {
    const kind = method === "POST" ? eventSender(headers) : undefined
    if (kind !== undefined)
      this.#parts.misdirected(kind, url.split("?")[0] ?? "", this.#clock.currentTimeMillisUnsafe())
  }

  #respond(route: Route, exchange: Exchange, isOffered: (route: Route) => boolean): Handled {
    const { admin, config, prefix } = this.#parts
    const { request } = exchange
    switch (route._tag) {
      case "Webhook":
        return this.#webhook(route.kind, exchange)
      case "Trigger":
        return this.#trigger(route.path, exchange)
      case "ChatCallback":
        return this.#callback(route.connection, exchange)
      case "Health":
        return this.#parts.run(this.#parts.liveness).then((alive) => unread(request, alive))
      case "Ready":
        return this.#parts
          .run(this.#parts.readiness)
          .then(({ brief, detailed }) => unread(request, isOffered(administration) ? detailed : brief))
      case "Metrics":
        return unread(
          request,
          config.current().document.server.metrics.enabled
            ? Responses.metrics(this.#metrics.current())
            : Responses.metricsOff
        )
      case "Dashboard":
        return this.#parts.dashboard
          .respond(config.current(), prefix, route.path, request.headers)
          .then((response) => unread(request, response))
      case "Developers":
        return unread(request, developersPage(route.language, prefix))
      case "SharedReview":
        return Option.isNone(admin)
          ? unread(request, Responses.notFound())
          : this.#parts
              .run(
                admin.value.handleShared({
                  path: route.path,
                  acceptLanguage: request.headers["accept-language"] ?? "",
                  client: clientKey(this.#addressOf(request))
                })
              )
              .then((response) => unread(request, response))
      case "ApiDescription":
        return unread(
          request,
          Option.isNone(admin)
            ? Responses.notFound()
            : route.form === "docs"
              ? admin.value.docs(prefix)
              : admin.value.openApi(prefix)
        )
      case "Admin":
        return Option.isSome(admin)
          ? this.#administration(exchange, route.path, admin.value.bodyLimit, admin.value.handle)
          : Responses.notFound()
      case "Mcp":
        return Option.isSome(admin)
          ? this.#administration(exchange, "/mcp", () => Effect.succeed(maxMessageBytes), admin.value.handleAgent)
          : Responses.notFound()
    }
  }

  #webhook(kind: ForgeKind, exchange: Exchange): Handled {
    const { webhooks } = this.#parts
    const { id, isGone, request } = exchange
    const { headers } = request
    const client = clientKey(this.#addressOf(request))
    const refuse = () => webhooks.preflight(kind, headers, client, this.#clock.currentTimeMillisUnsafe())
    return (
      this.#declaresTooMuch(request) ??
      this.#deliver(kind, exchange, client, refuse, (blocks, now) =>
        webhooks.handle({ id, kind, headers, blocks, client, now, isGone })
      )
    )
  }

  #trigger(path: TriggerPath, exchange: Exchange): Handled {
    const { triggers } = this.#parts
    const { id, request } = exchange
    const { headers } = request
    const refuse = () => triggers.preflight(path, headers, this.#clock.currentTimeMillisUnsafe())
    return (
      this.#declaresTooMuch(request) ??
      this.#deliver(callKinds[path], exchange, clientKey(this.#addressOf(request)), refuse, (blocks, now) =>
        triggers.handle({ id, path, headers, body: joined(blocks), now })
      )
    )
  }

  /** HEAD is not allowed: the platforms send GET with a challenge, or POST. */
  async #callback(connection: string, exchange: Exchange): Promise<IngressResponse | undefined> {
    const { chat, run } = this.#parts
    const { request } = exchange
    const refuse = () => {
      const refusal = chat.preflight(connection)
      if (refusal !== undefined) return () => unread(request, refusal)
      return declaresMore(request, maxCallbackBytes) ? () => Responses.bodyTooLarge(maxCallbackBytes) : undefined
    }
    const client = clientKey(this.#addressOf(request))
    const body = await this.#readUnderHead(exchange, maxCallbackBytes, client, refuse)
    if (body._tag === "Refused") return body.response
    const queryAt = request.url?.indexOf("?") ?? -1
    const call = {
      method: request.method === "GET" ? "GET" : "POST",
      query: new URLSearchParams(queryAt === -1 ? "" : request.url?.slice(queryAt + 1)),
      headers: request.headers,
      body: joined(body.blocks),
      now: this.#clock.currentTimeMillisUnsafe()
    } as const
    return run(chat.handle(connection, call)).finally(body.release)
  }

  /** Reads the body of a webhook or a call, handles it and records the duration. */
  async #deliver(
    kind: TriggerKind,
    exchange: Exchange,
    client: string,
    refuse: () => Refusal | undefined,
    handle: (blocks: ReadonlyArray<Uint8Array>, now: number) => Promise<IngressResponse | undefined>
  ): Promise<IngressResponse | undefined> {
    const startedAt = performance.now()
    const body = await this.#readUnderHead(exchange, this.#bodyLimit(), client, refuse)
    if (body._tag === "Refused") {
      if (body.response === Responses.bodiesTooMany) this.#parts.refusedForLoad(kind)
      return body.response
    }
    const response = await handle(body.blocks, this.#clock.currentTimeMillisUnsafe()).finally(body.release)
    webhookDuration.updateUnsafe((performance.now() - startedAt) / 1000, this.#parts.context)
    return response
  }

  /**
   * Reads the body while this node reads the durable head of the configuration, from the arrival of the headers on. What follows works with
   * the newest configuration: a refusal is final only under it.
   */
  async #readUnderHead(
    exchange: Exchange,
    limit: number,
    client: string,
    refuse: () => Refusal | undefined
  ): Promise<BodyResult> {
    const { config, run } = this.#parts
    const adopting = config.adoptHead()
    const adopted = adopting === undefined ? undefined : run(adopting)
    if (adopted !== undefined && refuse() !== undefined) await adopted
    const early = refuse()
    if (early !== undefined) return { _tag: "Refused", response: early() }
    const before = config.current()
    const reading = this.#readBody(exchange, limit, client)
    if (adopted === undefined) return reading
    const [body] = await Promise.all([reading, adopted]).catch((defect: unknown) => {
      void reading.then(release)
      throw defect
    })
    const late = body._tag === "Refused" || config.current() === before ? undefined : refuse()
    if (late === undefined) return body
    release(body)
    return { _tag: "Refused", response: late() }
  }

  async #administration(
    exchange: Exchange,
    path: string,
    bodyLimit: AdminApi["Service"]["bodyLimit"],
    handle: AdminApi["Service"]["handle"]
  ): Promise<IngressResponse | undefined> {
    const { request } = exchange
    const address = this.#addressOf(request)
    const queryAt = request.url?.indexOf("?") ?? -1
    const client = clientKey(address)
    const head = {
      method: request.method ?? "GET",
      path,
      query: new URLSearchParams(queryAt === -1 ? "" : request.url?.slice(queryAt + 1)),
      headers: request.headers,
      address,
      client
    }
    const limit = await this.#parts.run(bodyLimit(head))
    if (typeof limit !== "number") return unread(request, limit)
    const body = await this.#readBody(exchange, limit, client)
    if (body._tag === "Refused") return body.response
    return this.#parts.run(handle({ ...head, body: joined(body.blocks) })).finally(body.release)
  }

  #addressOf({ headers, socket }: IncomingMessage): string {
    return this.#clients().clientOf(socket.remoteAddress ?? "", headers["x-forwarded-for"])
  }

  #bodyLimit(): number {
    return this.#parts.config.current().document.server.webhook_body_limit_mb * mebibyte
  }

  #declaresTooMuch(request: IncomingMessage): IngressResponse | undefined {
    return declaresMore(request, this.#bodyLimit()) ? Responses.bodyTooLarge(this.#bodyLimit()) : undefined
  }

  /** Reads the body within limits. */
  async #readBody({ proceed, request }: Exchange, limit: number, client: string): Promise<BodyResult> {
    const body = await this.#parts.bodies.read(request, limit, client, proceed)
    switch (body._tag) {
      case "Aborted":
        return { _tag: "Refused", response: undefined }
      case "TooLarge":
        return { _tag: "Refused", response: Responses.bodyTooLarge(limit) }
      case "Busy":
        return { _tag: "Refused", response: Responses.bodiesTooMany }
      case "TooSlow":
        return { _tag: "Refused", response: Responses.requestTimeout }
      case "Read":
        return body
    }
  }
}
