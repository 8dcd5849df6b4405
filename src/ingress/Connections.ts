/**
 * Tracks the open connections of a listener and their activity. Limits their number, in total and per client. At a limit, an idle or slow
 * connection is closed for the new one. Closes idle connections when the server stops, and connections that have their last response,
 * whatever their client does.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { pipeline, Readable } from "node:stream"
import type { Duplex } from "node:stream"
import { clientKey } from "./ClientAddress.ts"

/** Observes connections for metrics and logs. */
export interface ConnectionObserver {
  /** Called when a connection was opened (1) or closed (-1). */
  readonly onCount: (change: 1 | -1) => void
  /** Called at a limit for a connection of `client`: another one was closed, or it was refused. */
  readonly onLimit: (client: string, outcome: "closed_for_another" | "refused") => void
}

export interface ConnectionLimits {
  readonly total: number
  readonly perClient: number
  /** Connections of a proxy belong to many clients, so only `total` limits them. */
  readonly isProxy: (address: string) => boolean
}

/** Time in milliseconds that a connection stays open after its last response, so that the client can read it. */
export const lingerMillis = 1000
/** Time in milliseconds after which a client that has not sent the header of its request, or not read the response, counts as slow. */
const slowMillis = 1000
/** Connections beyond the limits while all others are in use; they only serve probes and metrics. */
const reservedConnections = 32
/** Maximum number of requests on one connection without a response. Senders of webhooks wait for each response. */
const maxPipelined = 8

interface Connection {
  readonly socket: Duplex
  readonly client: string
  readonly reserved: boolean
  /** Start of the current activity, by `performance.now()`. */
  since: number
  request: IncomingMessage | undefined
  response: ServerResponse | undefined
  pending: number
  closing: NodeJS.Timeout | undefined
}

/** Returns the order in which connections are closed at a limit, lowest first; undefined: it is in use. */
export const rankConnection = (
  { closing, request, response, since }: Pick<Connection, "closing" | "request" | "response" | "since">,
  now: number
): number | undefined => {
  const isSlow = now - since > slowMillis
  if (closing !== undefined) return 0
  if (request === undefined || response === undefined) return isSlow ? 1 : 3
  if (response.writableFinished) return 2
  return isSlow && (!request.complete || response.headersSent) ? 4 : undefined
}

export class Connections {
  readonly #streaming = new Set<ServerResponse>()
  readonly #open = new Map<Duplex, Connection>()
  readonly #perClient = new Map<string, number>()
  #reserved = 0
  readonly #limits: ConnectionLimits
  readonly #observer: ConnectionObserver

  constructor(server: Server, limits: ConnectionLimits, observer: ConnectionObserver) {
    this.#limits = limits
    this.#observer = observer
    server.on("connection", (socket) => this.#admit(socket))
  }

  /** Registers a request on a connection. Returns false if the connection has too many requests without a response and is closed. */
  carries(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#open.get(request.socket)
    if (connection === undefined || connection.closing !== undefined) return false
    if (connection.pending >= maxPipelined) {
      request.socket.destroy()
      return false
    }
    const restart = () => {
      connection.since = performance.now()
    }
    connection.pending++
    connection.request = request
    connection.response = response
    restart()
    request.once("end", restart)
    response.once("close", () => {
      connection.pending--
      restart()
    })
    return true
  }

  /** Returns whether the connection is beyond the limits, for probes only. */
  isReserved(socket: Duplex): boolean {
    return this.#open.get(socket)?.reserved === true
  }

  /** Returns whether a response has begun that a second one would corrupt. */
  isResponding(socket: Duplex): boolean {
    const response = this.#open.get(socket)?.response
    return response !== undefined && response.headersSent && !response.writableFinished
  }

  isClosing(socket: Duplex): boolean {
    return this.#open.get(socket)?.closing !== undefined
  }

  /** Closes the connection one second after its last response, whether or not it was read. */
  closeSoon(socket: Duplex): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) socket.destroy()
    else connection.closing ??= setTimeout(() => socket.destroy(), lingerMillis)
  }

  /** Writes a stream until it ends, the client disconnects, or the server stops. Each stream occupies a connection. */
  stream(response: ServerResponse, stream: ReadableStream<Uint8Array>): void {
    this.#streaming.add(response)
    // Fails when the client disconnects, which ends the stream.
    // The web stream itself would be cancelled with its next value only.
    pipeline(Readable.fromWeb(stream), response, () => this.#streaming.delete(response))
  }

  /** Closes connections without a request, and ends streams. */
  closeIdle(): void {
    for (const response of this.#streaming) response.end()
    for (const { response, socket } of this.#open.values()) {
      if (response === undefined || response.writableFinished) socket.destroy()
    }
  }

  #admit(socket: Socket): void {
    const address = socket.remoteAddress ?? ""
    const client = clientKey(address)
    const held = this.#perClient.get(client) ?? 0
    const { isProxy, perClient, total } = this.#limits
    const reserved =
      (held >= perClient && !isProxy(address) && !this.#spare(client, client)) ||
      (this.#open.size >= total && !this.#spare(client))
    if (reserved && this.#reserved >= reservedConnections) return this.#refuse(socket, client)
    if (reserved) this.#reserved++
    const connection: Connection = {
      socket,
      client,
      reserved,
      since: performance.now(),
      request: undefined,
      response: undefined,
      pending: 0,
      closing: undefined
    }
    this.#open.set(socket, connection)
    this.#observer.onCount(1)
    this.#perClient.set(client, (this.#perClient.get(client) ?? 0) + 1)
    socket.once("close", () => this.#remove(connection))
  }

  #refuse(socket: Socket, client: string): void {
    this.#observer.onLimit(client, "refused")
    socket.destroy()
  }

  #remove(connection: Connection): void {
    const { client, closing, socket } = connection
    clearTimeout(closing)
    if (!this.#open.delete(socket)) return
    if (connection.reserved) this.#reserved--
    this.#observer.onCount(-1)
    const held = (this.#perClient.get(client) ?? 1) - 1
    if (held === 0) this.#perClient.delete(client)
    else this.#perClient.set(client, held)
  }

  /** Closes the connection with the lowest rank; of equal ones the one without activity for longest. */
  #spare(newcomer: string, of?: string): boolean {
    const now = performance.now()
    let spared: Connection | undefined
    let lowest = Number.POSITIVE_INFINITY
    for (const connection of this.#open.values()) {
      if (of !== undefined && connection.client !== of) continue
      const rank = rankConnection(connection, now)
      if (rank === undefined || rank > lowest) continue
      if (rank === lowest && spared !== undefined && spared.since <= connection.since) continue
      spared = connection
      lowest = rank
    }
    if (spared === undefined) return false
    this.#observer.onLimit(newcomer, "closed_for_another")
    this.#remove(spared)
    spared.socket.destroy()
    return true
  }
}
