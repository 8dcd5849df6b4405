/**
 * An attacker, as a process of its own: form bodies of 25 MiB with forged signatures, with a given concurrency, from addresses of
 * its own on loopback. Ends by itself; its parent gets the statuses of the responses.
 */
import { request } from "node:http"

export interface Flood {
  readonly port: number
  readonly requests: number
  readonly concurrency: number
  readonly bytes: number
}

const one = ({ bytes, port }: Flood, body: Buffer, index: number): Promise<number> =>
  new Promise((resolve) => {
    const sent = request(
      {
        host: "127.0.0.1",
        localAddress: `127.0.1.${1 + (index % 8)}`,
        port,
        path: "/webhooks/gitea",
        method: "POST",
        agent: false,
        timeout: 120_000,
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          "content-length": bytes,
          "x-gitea-event": "push",
          "x-gitea-signature": "0".repeat(64)
        }
      },
      (response) => response.resume().once("close", () => resolve(response.statusCode ?? 0))
    )
    sent.once("error", () => resolve(0)).once("timeout", () => sent.destroy())
    sent.end(body)
  })

process.once("message", async (flood: Flood) => {
  const body = Buffer.alloc(flood.bytes, "+")
  body.write("payload=")
  const statuses: Record<number, number> = {}
  let next = 0
  const worker = async () => {
    while (next < flood.requests) {
      const status = await one(flood, body, next++)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: flood.concurrency }, worker))
  process.send?.(statuses)
  process.disconnect()
})
