/**
 * The long connections of Feishu: an address from the API, frames, events that go to one of the connections and again to another one if they
 * are not acknowledged, fragments, and sockets that are silent.
 */
import { randomUUID } from "node:crypto"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer } from "ws"
import type { WebSocket } from "ws"
import { decodeFrame, encodeFrame, findHeader } from "../../src/chat/feishu/Frame.ts"

const maxConnections = 50

export interface FeishuDelivery {
  /** Number of fragments. */
  readonly parts?: number
  readonly order?: "backwards"
  /** Fragment that is lost on the way. */
  readonly lost?: number
}

export class FakeFeishuSocket {
  readonly connections = new Set<WebSocket>()
  readonly acknowledged: Array<{ readonly id: string; readonly code: number }> = []
  /** Settings for clients, in seconds. */
  clientConfig = { PingInterval: 120, ReconnectCount: -1, ReconnectInterval: 1, ReconnectNonce: 1 }
  /** Milliseconds until an event without acknowledgement is delivered again. */
  redeliveryMillis = 3000
  /** Neither pongs nor events are sent. */
  isSilent = false
  endpoint: ((body: Readonly<Record<string, unknown>>) => object | undefined) | undefined
  pings = 0
  opened = 0
  readonly #server = new WebSocketServer({ noServer: true })
  readonly #waiting = new Map<string, (code: number) => void>()
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  /** Responds to a request for an address. */
  discover(url: string, body: Readonly<Record<string, unknown>>): object {
    const fault = this.endpoint?.(body)
    if (fault !== undefined) return fault
    if (body["AppSecret"] !== this.#secret) return { code: 514, msg: "app secret is wrong" }
    if (this.connections.size >= maxConnections) return { code: 1_000_040_350, msg: "too many connections" }
    const address = `${url.replace(/^http/, "ws")}/feishu-ws?device_id=${randomUUID()}&service_id=7&ticket=t1cket`
    return { code: 0, msg: "", data: { URL: address, ClientConfig: this.clientConfig } }
  }

  accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#server.handleUpgrade(request, socket, head, (connection) => {
      this.opened += 1
      this.connections.add(connection)
      connection.on("close", () => this.connections.delete(connection))
      connection.on("error", () => {})
      connection.on("message", (data: Buffer) => this.#receive(connection, data))
    })
  }

  /** Delivers an event until it is acknowledged, each time to another connection. Returns the code. */
  async deliver(payload: string, how: FeishuDelivery = {}): Promise<number> {
    const id = randomUUID()
    for (let attempt = 0; ; attempt++) {
      const choices = [...this.connections]
      const connection = choices[attempt % Math.max(1, choices.length)]
      if (connection === undefined) {
        await new Promise((resume) => setTimeout(resume, 20))
        continue
      }
      const { lost: _lost, ...repeated } = how
      if (!this.isSilent) this.#send(connection, id, payload, attempt === 0 ? how : repeated)
      const code = await this.#wait(id)
      if (code === 200) return code
    }
  }

  close(): void {
    for (const connection of this.connections) connection.terminate()
    this.#server.close()
  }

  #wait(id: string): Promise<number | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(undefined), this.redeliveryMillis)
      this.#waiting.set(id, (code) => {
        clearTimeout(timer)
        resolve(code)
      })
    })
  }

  #send(connection: WebSocket, id: string, payload: string, { lost, order, parts = 1 }: FeishuDelivery): void {
    const bytes = Buffer.from(payload)
    const size = Math.ceil(bytes.length / parts)
    const all = Array.from({ length: parts }, (_, seq) => seq)
    for (const seq of order === "backwards" ? all.toReversed() : all) {
      if (seq === lost) continue
      const frame = encodeFrame({
        seqId: 1n,
        logId: 2n ** 63n,
        service: 7,
        method: 1,
        headers: [
          ["type", "event"],
          ["message_id", id],
          ["sum", String(parts)],
          ["seq", String(seq)],
          ["trace_id", "trace"]
        ],
        payload: bytes.subarray(seq * size, (seq + 1) * size)
      })
      connection.send(frame)
    }
  }

  #receive(connection: WebSocket, data: Buffer): void {
    const frame = decodeFrame(new Uint8Array(data))
    if (frame === undefined) return connection.close(1003)
    if (findHeader(frame, "type") === "ping") {
      this.pings += 1
      const payload = Buffer.from(JSON.stringify(this.clientConfig))
      if (!this.isSilent) connection.send(encodeFrame({ ...frame, headers: [["type", "pong"]], payload }))
      return
    }
    const id = findHeader(frame, "message_id") ?? ""
    const { code } = Object(JSON.parse(Buffer.from(frame.payload ?? []).toString("utf8")))
    this.acknowledged.push({ id, code })
    this.#waiting.get(id)?.(code)
  }
}
