/**
 * Measures what reading the durable head adds to a delivery that arrives alone: requests over one connection to a listening ingress, every other
 * one with the read. Each has a wrong signature, so that only its arrival, its body and its HMAC are measured.
 */
import { Agent, request } from "node:http"
import { Effect, Layer } from "effect"
import { ConfigStore } from "../../../src/config/ConfigStore.ts"
import { forged, startIngress } from "../../ingress/Ingress.ts"
import { median } from "../Median.ts"

/** Bytes of the body, as of a pull request of GitHub. */
const bodyBytes = 25_000
const rounds = 400
const warmUp = 200

/** `pauseMillis`: time between headers and body. Returns the microseconds from the last byte to the response. */
const post = (port: number, agent: Agent, body: string, pauseMillis: number): Promise<number> =>
  new Promise((resolve, reject) => {
    let before = performance.now()
    const headers = {
      "content-type": "application/json",
      "content-length": body.length,
      "x-gitea-event": "pull_request",
      "x-gitea-signature": forged["x-hub-signature-256"].slice("sha256=".length)
    }
    const sent = request({ port, agent, method: "POST", path: "/webhooks/gitea", headers }, (response) => {
      response.resume().on("end", () => {
        if (response.statusCode === 401) resolve((performance.now() - before) * 1000)
        else reject(new Error(`expected 401, got ${response.statusCode}`))
      })
    })
    sent.on("error", reject)
    if (pauseMillis === 0) return void sent.end(body)
    sent.flushHeaders()
    setTimeout(() => {
      before = performance.now()
      sent.end(body)
    }, pauseMillis)
  })

/** Returns the microseconds that `head`, which runs from the arrival of the headers on, adds to a delivery. */
export const measureArrival = async (
  config: ConfigStore["Service"],
  head: Effect.Effect<void>,
  pauseMillis: number
): Promise<number> => {
  let reads = false
  const toggled = ConfigStore.of({ ...config, adoptHead: () => (reads ? head : undefined) })
  const ingress = await startIngress({ config: Layer.succeed(ConfigStore, toggled) })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const body = JSON.stringify({ text: "x".repeat(bodyBytes) })
  const micros: Record<"false" | "true", Array<number>> = { false: [], true: [] }
  for (let round = 0; round < warmUp + rounds * 2; round++) {
    reads = round % 2 === 1
    const took = await post(ingress.port, agent, body, pauseMillis)
    if (round >= warmUp) micros[`${reads}`].push(took)
  }
  agent.destroy()
  await ingress.stop()
  return median(micros.true) - median(micros.false)
}
