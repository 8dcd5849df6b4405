/**
 * Sends deliveries over keep-alive connections, one request at a time on each, and answers the latencies. Everything that is
 * sent is made beforehand but the delivery id, so that the generator costs little beside the server.
 */
import { connect } from "node:net"
import { deliveries, path } from "./Deliveries.ts"

export interface Order {
  readonly port: number
  readonly requests: number
  readonly connections: number
}

export interface Load {
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly failures: number
  /** The first answer that was not a 2xx. */
  readonly failure: string | undefined
}

const known = deliveries(4000, 500).map(({ body, signature }) => ({
  head: [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    "user-agent: GitHub-Hookshot/bench",
    "accept: */*",
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "x-github-event: pull_request",
    "x-github-hook-id: 1",
    `x-hub-signature-256: sha256=${signature}`,
    "x-github-delivery: "
  ].join("\r\n"),
  body: `\r\n\r\n${body}`
}))
let sent = 0

const next = (): string => {
  const delivery = known[sent % known.length]
  sent++
  const id = crypto.randomUUID()
  return `${delivery?.head}${id}${delivery?.body}`
}

const endOf = (received: string): number => {
  const end = received.indexOf("\r\n\r\n")
  if (end === -1) return -1
  const length = /content-length: (\d+)/i.exec(received)?.[1]
  if (length !== undefined) return received.length >= end + 4 + Number(length) ? end : -1
  return received.endsWith("0\r\n\r\n") ? end : -1
}

const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

const run = ({ connections, port, requests }: Order): Promise<Load> =>
  new Promise((resolve, reject) => {
    const times: Array<number> = []
    const started = performance.now()
    let begun = 0
    let open = connections
    let failures = 0
    let failure: string | undefined
    for (let n = 0; n < connections; n++) {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true })
      let received = ""
      let at = 0
      const send = () => {
        if (begun === requests) {
          socket.destroy()
          open--
          if (open === 0) {
            const sorted = times.toSorted((a, b) => a - b)
            const seconds = (performance.now() - started) / 1000
            resolve({ seconds, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), failures, failure })
          }
          return
        }
        begun++
        at = performance.now()
        socket.write(next(), "latin1")
      }
      socket.on("connect", send)
      socket.on("error", reject)
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1")
        if (endOf(received) === -1) return
        times.push(performance.now() - at)
        if (!received.startsWith("HTTP/1.1 2")) {
          failures++
          failure ??= received
        }
        received = ""
        send()
      })
    }
  })

process.on("message", (order: Order) => {
  run(order).then(
    (load) => process.send?.(load),
    (error: unknown) => process.send?.({ seconds: 0, p50: 0, p99: 0, failures: order.requests, failure: String(error) })
  )
})
process.on("disconnect", () => process.exit(0))
process.send?.("ready")
