/** A proxy before the service that replaces the stream of live events by one of its own, for as many events as a test needs. */
import { createServer, request } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

const types = ["working", "started", "checked_out", "finished", "queue", "analysed", "deliveries", "published"] as const

/** Fields of the events of some types, as the service sends them. */
const fields: Readonly<Record<string, object>> = {
  working: { pass: 1, agent: "codex", tool_calls: 12, input_tokens: 60_000, output_tokens: 900, problems: 2 },
  analysed: { problems: 3, models: ["provider/model"] },
  published: { operation: "Summary", status: "sent", url: "https://git.example/team/one/pulls/1#issuecomment-1" },
  finished: { status: "succeeded", reason: "the review is on the pull request" }
}

/** `run`: id of a run that takes part in the events. */
const makeEvent = (number: number, run: string | undefined): string => {
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
            run_id: number % 50 === 0 && run !== undefined ? run : `run-${number % 50}`,
            ...fields[type]
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

  /** Ends every stream, as the service does after a quarter of an hour; pages open another one. */
  endStreams(): void {
    for (const stream of this.#streams) stream.end()
    this.#streams.clear()
  }

  /** Sends this many events to every stream, as fast as it takes them. */
  async send(count: number, run?: string): Promise<void> {
    const block = 500
    for (let sent = 0; sent < count; sent += block) {
      const text = Array.from({ length: Math.min(block, count - sent) }, (_, index) =>
        makeEvent(sent + index, run)
      ).join("")
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
