/** A proxy before the service that replaces the stream of live events by one of its own, for as many events as a test needs. */
import { createServer, request } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

const types = ["working", "started", "finished", "queue", "deliveries", "published"] as const

const makeEvent = (number: number): string => {
  const type = types[number % types.length] ?? "working"
  const common = { type, at: new Date().toISOString() }
  const body =
    type === "queue"
      ? { ...common, by_status: { waiting: number % 7, running: 1 }, oldest_waiting_at: null }
      : type === "deliveries"
        ? { ...common, newest: `event-${number}` }
        : {
            ...common,
            workspace: "team-one",
            target_key: `host-0:team/one:pull_request:${number % 50}`,
            run_id: `run-${number % 50}`
          }
  return `data: ${JSON.stringify(body)}\n\n`
}

export class EventProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #streams = new Set<ServerResponse>()
  readonly url: string

  private constructor(server: Server, streams: Set<ServerResponse>) {
    this.#server = server
    this.#streams = streams
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(target: string): Promise<EventProxy> {
    const streams = new Set<ServerResponse>()
    const forward = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
      if (incoming.url === "/api/admin/live") {
        outgoing.writeHead(200, { "content-type": "text/event-stream" })
        outgoing.flushHeaders()
        streams.add(outgoing)
        outgoing.once("close", () => streams.delete(outgoing))
        return
      }
      const upstream = request(`${target}${incoming.url ?? "/"}`, {
        method: incoming.method,
        headers: { ...incoming.headers, host: new URL(target).host, origin: target }
      })
      upstream.once("response", (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(outgoing)
      })
      upstream.once("error", () => outgoing.destroy())
      incoming.pipe(upstream)
    }
    const server = createServer(forward)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return new EventProxy(server, streams)
  }

  /** Number of open streams. */
  get streams(): number {
    return this.#streams.size
  }

  /** Sends this many events to every stream, as fast as it takes them. */
  async send(count: number): Promise<void> {
    const block = 500
    for (let sent = 0; sent < count; sent += block) {
      const text = Array.from({ length: Math.min(block, count - sent) }, (_, index) => makeEvent(sent + index)).join("")
      await Promise.all(
        [...this.#streams].map((stream) => new Promise<void>((resolve) => void stream.write(text, () => resolve())))
      )
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}
