/**
 * Serves one port with a plain node:http listener, because webhooks pass through it and a router would cost a third of the throughput.
 * Limits connections, and the time and size of headers and bodies. Independent of routes.
 */
import { createServer, STATUS_CODES } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { Effect } from "effect"
import { newId } from "../domain/Ids.ts"
import type { IngressResponse } from "./Responses.ts"
import * as Responses from "./Responses.ts"
import { Connections, lingerMillis } from "./Connections.ts"
import type { ConnectionLimits, ConnectionObserver } from "./Connections.ts"
import { listen, stop } from "./Listening.ts"

/**
 * Limits in bytes, and in share of the connection's remaining time, for discarding an unread body so that its sender reads the response.
 */
const swallow = { millis: lingerMillis * 0.75, bytes: 32 * 1024 * 1024 }

/** Writes a response. Every response carries a new `x-request-id`; the sender's is not used. */
const respond = (
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  reply: IngressResponse,
  { connections, stopping }: { readonly connections: Connections; readonly stopping: boolean }
): void => {
  if (response.headersSent || response.destroyed || request.socket.writableEnded) return
  const close = reply.close === true || stopping
  if (reply.stream !== undefined) {
    response.writeHead(reply.status, {
      "content-type": reply.contentType,
      "x-request-id": requestId,
      ...reply.headers,
      connection: "close"
    })
    connections.stream(response, reply.stream)
    return
  }
  // Node sends a string, unlike bytes, in one packet with the header.
  const body = reply.bytes ?? reply.body
  response.writeHead(reply.status, {
    "content-type": reply.contentType,
    "content-length": Buffer.byteLength(body),
    "x-request-id": requestId,
    ...reply.headers,
    ...(close ? { connection: "close" } : undefined)
  })
  if (reply.close === true) connections.closeSoon(request.socket)
  if (reply.close !== true || request.complete) {
    response.end(body)
    return
  }
  // Closing with unread data would reset the connection and could discard the response.
  response.write(body)
  const end = () => {
    clearTimeout(timer)
    request.removeAllListeners("data")
    response.end()
  }
  const timer = setTimeout(end, swallow.millis)
  request.once("end", end).once("close", end)
  if (reply.leavesBody === true) return
  let swallowed = 0
  request
    .on("data", (chunk: Buffer) => {
      swallowed += chunk.length
      if (swallowed > swallow.bytes) end()
    })
    .resume()
}

/** Responds to requests that node refused before it created a response object. */
const respondRaw = (socket: Duplex, requestId: string, reply: IngressResponse, connections: Connections): void => {
  const body = Buffer.from(reply.body)
  const head = [
    `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ""}`,
    `content-type: ${reply.contentType}`,
    `content-length: ${body.length}`,
    `x-request-id: ${requestId}`,
    "connection: close"
  ]
  // Node keeps the socket open until the client closes its half, which may never happen.
  connections.closeSoon(socket)
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]))
}

export interface Exchange {
  readonly id: string
  readonly request: IncomingMessage
  /** True for a connection reserved for probes and metrics while all others are in use. */
  readonly forProbes: boolean
  /** Sends `100-continue` to a sender that waits for it (`expect: 100-continue`) before it sends the body. */
  readonly proceed: () => void
  /** Returns whether the client has disconnected. */
  readonly isGone: () => boolean
}

export interface ListenerSettings {
  readonly port: number
  readonly hostname: string
  readonly connections: ConnectionLimits
  readonly headersTimeoutMillis: number
  /** Timeout of the whole request. Hosts give up after 10 to 30 seconds. */
  readonly requestTimeoutMillis: number
  /** Time for requests in progress when the server stops. */
  readonly graceMillis: number
  readonly observer: ConnectionObserver
  readonly onDefect: (requestId: string, defect: unknown) => void
  /** Returns undefined if the sender disconnected. */
  readonly handle: (exchange: Exchange) => Promise<IngressResponse | undefined> | IngressResponse
}

/** Longer than the keep-alive time of common proxies, so that none sends into a connection that is being closed. */
const keepAliveMillis = 65_000
/** Time without a byte in either direction during a request, after which the client counts as gone. */
const stalledMillis = 60_000

const refusalOf = (code: string | undefined): IngressResponse => {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return Responses.requestTimeout
  if (code === "HPE_HEADER_OVERFLOW") return Responses.headersTooLarge
  return Responses.badRequest
}

/** Returns whether the body has a transfer encoding other than chunked, which proxies interpret differently. */
const isEncoded = ({ headers }: IncomingMessage): boolean => {
  const encoding = headers["transfer-encoding"]
  return encoding !== undefined && encoding.trim().toLowerCase() !== "chunked"
}

/** Listens until the scope ends and returns the port. On stop it accepts no connections, and requests in progress get `graceMillis`. */
export const startListener = Effect.fnUntraced(function* (settings: ListenerSettings) {
  let stopping = false

  const serve = async (
    request: IncomingMessage,
    response: ServerResponse,
    expects?: "continue" | "other"
  ): Promise<void> => {
    if (!connections.carries(request, response)) return
    const id = newId()
    const forProbes = connections.isReserved(request.socket)
    const send = (reply: IngressResponse) =>
      respond(request, response, id, forProbes ? { ...reply, close: true } : reply, { connections, stopping })
    const exchange: Exchange = {
      id,
      request,
      forProbes,
      proceed: () => {
        if (expects === "continue") response.writeContinue()
      },
      isGone: () => request.socket.destroyed
    }
    if (expects === "other") return send(Responses.expectationFailed)
    if (isEncoded(request)) return send(Responses.badRequest)
    try {
      const reply = await settings.handle(exchange)
      if (reply !== undefined) send(reply)
    } catch (defect) {
      settings.onDefect(id, defect)
      send(Responses.internalError)
    }
  }

  const { headersTimeoutMillis, requestTimeoutMillis } = settings
  const server = createServer({
    headersTimeout: headersTimeoutMillis,
    requestTimeout: requestTimeoutMillis,
    connectionsCheckingInterval: Math.min(1000, requestTimeoutMillis / 4),
    keepAliveTimeout: keepAliveMillis,
    maxHeaderSize: 32 * 1024
  })
  server.timeout = stalledMillis
  const connections = new Connections(server, settings.connections, settings.observer)
  server.on("request", (request: IncomingMessage, response: ServerResponse) => void serve(request, response))
  server.on(
    "checkContinue",
    (request: IncomingMessage, response: ServerResponse) => void serve(request, response, "continue")
  )
  server.on(
    "checkExpectation",
    (request: IncomingMessage, response: ServerResponse) => void serve(request, response, "other")
  )
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    // The last response, to the header, is in progress already. Errors in the rest of the request do not matter.
    if (connections.isClosing(socket)) return
    if (!socket.writable || error.code === "ECONNRESET" || connections.isResponding(socket)) socket.destroy()
    else respondRaw(socket, newId(), refusalOf(error.code), connections)
  })

  yield* Effect.acquireRelease(listen(server, settings.port, settings.hostname), () =>
    Effect.suspend(() => {
      stopping = true
      return stop(server, connections, settings.graceMillis)
    })
  )
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : settings.port
})
