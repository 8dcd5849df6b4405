/**
 * Sends deliveries over keep-alive connections, one request at a time on each, and returns the latencies. Deliveries are made and
 * signed beforehand, so that the generator costs little next to the server.
 */
import { connect } from "node:net"
import { path } from "./Agreement.ts"
import { deliveries } from "./Deliveries.ts"

/** Makes the deliveries of the orders that follow. */
export interface Stock {
  readonly _tag: "Stock"
  /** Number of the first pull request. */
  readonly first: number
  readonly deliveries: number
  readonly pulls: number
}

/** Sends the stock, again from its start when there are more requests than deliveries. Delivery ids are always new. */
export interface Order {
  readonly _tag: "Order"
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
  /** The first response that was not a 2xx, or the first error. */
  readonly failure: string | undefined
}

interface Ready {
  readonly head: string
  readonly body: string
}

const prepare = ({ deliveries: count, first, pulls }: Stock): ReadonlyArray<Ready> =>
  deliveries(count, pulls, first).map(({ body, signature }) => ({
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

const isComplete = (received: string): boolean => {
  const end = received.indexOf("\r\n\r\n")
  if (end === -1) return false
  const length = /content-length: (\d+)/i.exec(received)?.[1]
  return length === undefined ? received.endsWith("0\r\n\r\n") : received.length >= end + 4 + Number(length)
}

const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

const run = (stock: ReadonlyArray<Ready>, { connections, port, requests }: Order): Promise<Load> =>
  new Promise((resolve, reject) => {
    const times: Array<number> = []
    const started = performance.now()
    let begun = 0
    let open = connections
    let failures = 0
    let failure: string | undefined
    const finish = () => {
      const sorted = times.toSorted((a, b) => a - b)
      const seconds = (performance.now() - started) / 1000
      resolve({ seconds, p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), failures, failure })
    }
    for (let n = 0; n < connections; n++) {
      const socket = connect({ port, host: "127.0.0.1", noDelay: true })
      let received = ""
      let at = 0
      const send = () => {
        const delivery = stock[begun % stock.length]
        if (begun === requests || delivery === undefined) {
          socket.destroy()
          open--
          if (open === 0) finish()
          return
        }
        begun++
        at = performance.now()
        socket.write(`${delivery.head}${crypto.randomUUID()}${delivery.body}`, "latin1")
      }
      socket.on("connect", send)
      socket.on("error", reject)
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1")
        if (!isComplete(received)) return
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

let stock: ReadonlyArray<Ready> = []

process.on("message", (message: Stock | Order) => {
  if (message._tag === "Stock") {
    stock = prepare(message)
    process.send?.({ prepared: stock.length })
    return
  }
  run(stock, message).then(
    (load) => process.send?.(load),
    (error: unknown) => {
      const failed = { seconds: 0, p50: 0, p99: 0, failures: message.requests, failure: String(error) } satisfies Load
      process.send?.(failed)
    }
  )
})
process.on("disconnect", () => process.exit(0))
process.send?.({ ready: true })
