/**
 * One port: a plain node:http listener, because the webhook path runs through it and a router would cost a third of the throughput.
 * Bounds connections, and the time and size of headers and bodies. Knows nothing of routes.
 */
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { Effect } from "effect"
import { newId } from "../domain/Ids.ts"
import type { IngressResponse } from "./Answers.ts"
import * as Answers from "./Answers.ts"
import { Connections } from "./Connections.ts"
import type { ConnectionLimits, ConnectionObserver } from "./Connections.ts"
import { listen, stop } from "./Listening.ts"
import { respond, respondRaw } from "./Respond.ts"

export interface Exchange {
  readonly id: string
  readonly request: IncomingMessage
  /** The connection is one of those that are kept for probes and metrics when all others are in use. */
  readonly forProbes: boolean
  /** Tells a sender that waits for it (`expect: 100-continue`) to send the body. Without it the body does not come. */
  readonly proceed: () => void
  /** Whether nobody waits for the response any more. */
  readonly isGone: () => boolean
}

export interface ListenerSettings {
  readonly port: number
  readonly hostname: string
  readonly connections: ConnectionLimits
  readonly headersTimeoutMillis: number
  /** For the whole request. Hosts give up after 10 to 30 seconds. */
  readonly requestTimeoutMillis: number
  /** Requests under way at stop. */
  readonly graceMillis: number
  readonly observer: ConnectionObserver
  readonly onDefect: (requestId: string, defect: unknown) => void
  /** Undefined: the sender went away. */
  readonly handle: (exchange: Exchange) => Promise<IngressResponse | undefined> | IngressResponse
}

/** An idle connection is kept a little longer than proxies keep theirs, so that none sends into one that is being closed. */
const keepAliveMillis = 65_000
/** Without a byte in either direction while a request is under way: the client has stopped taking the response. */
const stalledMillis = 60_000

const refusalOf = (code: string | undefined): IngressResponse => {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return Answers.requestTimeout
  if (code === "HPE_HEADER_OVERFLOW") return Answers.headersTooLarge
  return Answers.badRequest
}

/** Whether the body is encoded for the transfer beyond being cut into chunks: proxies differ in what they make of that. */
const isEncoded = ({ headers }: IncomingMessage): boolean => {
  const encoding = headers["transfer-encoding"]
  return encoding !== undefined && encoding.trim().toLowerCase() !== "chunked"
}

/** The port that it listens on, until the scope ends. Stopping: no new connections, requests under way get `graceMillis`. */
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
    const send = (answer: IngressResponse) =>
      respond(request, response, id, forProbes ? { ...answer, close: true } : answer, { connections, stopping })
    const exchange: Exchange = {
      id,
      request,
      forProbes,
      proceed: () => {
        if (expects === "continue") response.writeContinue()
      },
      isGone: () => request.socket.destroyed
    }
    if (expects === "other") return send(Answers.expectationFailed)
    if (isEncoded(request)) return send(Answers.badRequest)
    try {
      const answer = await settings.handle(exchange)
      if (answer !== undefined) send(answer)
    } catch (defect) {
      settings.onDefect(id, defect)
      send(Answers.internalError)
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
    // The last response is under way already, in answer to the header; what is wrong with the rest does not matter.
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
