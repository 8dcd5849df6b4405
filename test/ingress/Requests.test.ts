/** Deliveries are decided under the newest configuration, which is read from the arrival of their headers on, while the body is read. */
import { request } from "node:http"
import { Deferred, Effect, Layer } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { makeStaticStore } from "../../src/config/snapshots/FileConfigStore.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { document, env, hmac, pullRequest, startIngress } from "./Ingress.ts"
import type { Ingress } from "./Ingress.ts"

const { triggers, workspaces } = document
const withHub = { triggers, workspaces }
const withoutHub = { triggers: triggers.slice(1), workspaces: { instances: {} } }

let ingress: Ingress | undefined
afterEach(async () => {
  await ingress?.stop()
  ingress = undefined
})

/** Starts over a configuration that the read of the head replaces, once `release` is called. */
const startOver = async (before: unknown, after: unknown) => {
  const [old, next] = await Promise.all([before, after].map((one) => Effect.runPromise(toSnapshot(one, env))))
  if (old === undefined || next === undefined) throw new Error("invalid")
  let current = old
  let reads = 0
  const gate = Deferred.makeUnsafe<void>()
  const head = Effect.suspend(() => {
    reads++
    return Effect.andThen(
      Deferred.await(gate),
      Effect.sync(() => void (current = next))
    )
  })
  const store = ConfigStore.of({ ...makeStaticStore(old), current: () => current, adoptHead: () => head })
  ingress = await startIngress({ config: Layer.succeed(ConfigStore, store) })
  return {
    port: ingress.port,
    reads: () => reads,
    release: () => void Deferred.doneUnsafe(gate, Effect.void)
  }
}

const body = JSON.stringify(pullRequest())

/** Sends the headers of a signed delivery; the body follows when the service requests it. */
const deliver = (port: number) => {
  const headers = {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-github-event": "pull_request",
    "x-github-delivery": "d-1",
    "x-hub-signature-256": `sha256=${hmac(body)}`,
    expect: "100-continue"
  }
  const sent = request({ port, method: "POST", path: "/webhooks/github", headers })
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.on("response", (response) => resolve(response.resume().statusCode)).on("error", reject)
  })
  const proceeds = new Promise<void>((resolve) => {
    sent.on("continue", () => {
      sent.end(body)
      resolve()
    })
  })
  sent.flushHeaders()
  return { status, proceeds }
}

/** Returns whether the response arrives before those to later requests. */
const isEarly = async (port: number, status: Promise<unknown>): Promise<boolean> => {
  let isThere = false
  void status.then(() => (isThere = true))
  for (let n = 0; n < 5; n++) await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()
  return isThere
}

describe("a delivery", () => {
  it("sends its body while the head is read, and is decided after that", async () => {
    const { port, reads, release } = await startOver(withHub, withHub)
    const { proceeds, status } = deliver(port)
    await proceeds
    expect(reads()).toBe(1)
    expect(await isEarly(port, status)).toBe(false)
    release()
    expect(await status).toBe(202)
    expect(await deliver(port).status).toBe(202)
    expect(reads()).toBe(2)
  })

  it("is accepted for a trigger that only the newest configuration has", async () => {
    const { port, release } = await startOver(withoutHub, withHub)
    const { status } = deliver(port)
    expect(await isEarly(port, status)).toBe(false)
    release()
    expect(await status).toBe(202)
  })

  it("is refused for a trigger that the newest configuration lacks", async () => {
    const { port, release } = await startOver(withHub, withoutHub)
    const { proceeds, status } = deliver(port)
    await proceeds
    expect(await isEarly(port, status)).toBe(false)
    release()
    expect(await status).toBe(404)
  })
})
