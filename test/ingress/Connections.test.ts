/** Limits of resources that unauthenticated clients hold. Each case is an attack that blocked others. */
import type { IncomingMessage } from "node:http"
import { PassThrough } from "node:stream"
import { Effect, Layer } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { BodyReader } from "../../src/ingress/Body.ts"
import { rankConnection } from "../../src/ingress/Connections.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { waitUntil } from "../harness/Wait.ts"
import type { Ingress } from "./Ingress.ts"
import { deliver, document, forged, hmac, pullRequest, startIngress } from "./Ingress.ts"
import type { RawConnection } from "./Raw.ts"
import { open, post, send } from "./Raw.ts"

const mebibyte = 1024 * 1024
let ingress: Ingress
let started: Ingress | undefined
const opened: Array<RawConnection> = []
afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy()
  await started?.stop()
  started = undefined
})

const start = async (limits: object, options: object = {}, server: object = {}): Promise<void> => {
  ingress = started = await startIngress({ ...options, document: { ...document, server: { limits, ...server } } })
}

/** Opens an attacker's connection: it never reads and never closes. */
const hold = async (from: string, bytes: string | Uint8Array): Promise<RawConnection> => {
  const connection = open(ingress.port, from)
  opened.push(connection)
  await new Promise((resume) => connection.socket.once("connect", resume))
  connection.socket.pause()
  if (bytes.length > 0) connection.socket.write(bytes)
  return connection
}

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${ingress.url}/metrics`, { headers: { connection: "close" } })).text()
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, "m").exec(text)?.[1] ?? 0)
}

/** Statuses of a probe and of a signed delivery. */
const served = async (): Promise<ReadonlyArray<number>> => [
  (await fetch(`${ingress.url}/healthz`)).status,
  (await deliver(ingress, "pull_request", pullRequest())).status
]
const both = [200, 202]

const halfHeader = "POST /webhooks/github HTTP/1.1\r\nhost: x\r\n"
const halfBody = post("/webhooks/github", { ...forged, "content-length": 1000 }, "{")

describe("connections", () => {
  it.each([
    ["half a header", halfHeader],
    ["half a body", halfBody],
    ["nothing", ""]
  ])("with %s are destroyed after their 408, although the client neither reads nor closes", async (_, bytes) => {
    await start({}, { headersTimeoutMillis: 100, requestTimeoutMillis: 200 })
    await Promise.all(Array.from({ length: 20 }, (_unused, at) => hold(`127.0.3.${at + 1}`, bytes)))
    // This request has one connection.
    await waitUntil(async () => (await metric("aicr_http_connections")) === 1, {
      timeout: 15_000,
      describe: () => "the server holds none of them"
    })
    assert.deepStrictEqual(await served(), both)
  })

  it.each([
    ["a delivery without signature", post("/webhooks/github", { "content-length": 1000 }, "{")],
    ["a probe", post("/healthz", { "content-length": 1000 }, "{").replace("POST", "GET")],
    ["an expectation", post("/webhooks/github", { ...forged, expect: "x", "content-length": 1000 }, "{")]
  ])("are destroyed within a second where the body of %s goes on after the response", async (_, bytes) => {
    await start({})
    const refused = await hold("127.0.0.1", bytes)
    const dripping = setInterval(() => refused.socket.write(" "), 20)
    await waitUntil(async () => (await metric("aicr_http_connections")) === 1, {
      timeout: 15_000,
      describe: () => "it is destroyed"
    })
    clearInterval(dripping)
    assert.deepStrictEqual(await served(), both)
  })

  it("beyond the limit take the place of those that wait, whatever these wait for", async () => {
    await start({ connections: 16, connections_per_client: 16 })
    for (let at = 0; at < 48; at++) await hold(`127.0.3.${at + 1}`, [halfHeader, halfBody, ""][at % 3] ?? "")
    for (let at = 0; at < 5; at++) assert.deepStrictEqual(await served(), both)
    assert.isAtMost(await metric("aicr_http_connections"), 16)
    assert.isAbove(await metric("aicr_http_connections_at_limit_total"), 20)
  })

  it("of one client are bounded, and leave room for others", async () => {
    await start(
      { connections: 64, connections_per_client: 8 },
      { headersTimeoutMillis: 300_000, requestTimeoutMillis: 300_000 }
    )
    for (let at = 0; at < 60; at++) await hold("127.0.3.1", halfHeader)
    await waitUntil(async () => (await metric("aicr_http_connections")) <= 9, { describe: () => "eight are left" })
    assert.deepStrictEqual(await served(), both)
  })

  it("of a trusted proxy are not bounded as those of one client", async () => {
    await start({ connections: 64, connections_per_client: 2 }, {}, { trust_proxy: ["127.0.3.1"] })
    const held = await Promise.all(Array.from({ length: 20 }, () => hold("127.0.3.1", halfHeader)))
    assert.strictEqual(await metric("aicr_http_connections"), 21)
    assert.isTrue(held.every(({ socket }) => !socket.destroyed))
  })

  it("that are all in use leave some for probes", async () => {
    // Deliveries wait for a store that does not respond.
    let waiting = 0
    const stuck = Layer.mock(Receipts, {
      storeAll: (records) => {
        waiting += records.length
        return Effect.never
      },
      list: () => Effect.succeed([])
    })
    await start({ connections: 16 }, { receipts: stuck, graceMillis: 10 })
    const body = JSON.stringify(pullRequest())
    const delivery = post(
      "/webhooks/github",
      {
        "content-length": body.length,
        "x-github-event": "pull_request",
        "x-hub-signature-256": `sha256=${hmac(body)}`
      },
      body
    )
    for (let at = 0; at < 16; at++) await hold(`127.0.3.${at + 1}`, delivery)
    await waitUntil(() => waiting === 16, { describe: () => `all connections are in use, not ${waiting}` })
    const beyond = await send(ingress.port, delivery)
    assert.deepStrictEqual([beyond?.status, beyond?.headers["connection"]], [503, "close"])
    for (const path of ["/healthz", "/readyz", "/metrics"]) {
      assert.strictEqual((await fetch(`${ingress.url}${path}`)).status, 200, path)
    }
  })

  it("carry at most a few requests that wait for their response", async () => {
    await start({})
    const flooding = open(ingress.port)
    opened.push(flooding)
    flooding.socket.write("GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n".repeat(1000))
    const responses = () => flooding.received().split("HTTP/1.1 200").length - 1
    await Promise.race([
      flooding.closed,
      waitUntil(() => responses() === 1000, { timeout: 120_000, describe: () => `${responses()} responses` })
    ])
    assert.isBelow(responses(), 100)
    assert.deepStrictEqual(await served(), both)
  })

  const now = 10_000
  const cases: ReadonlyArray<readonly [string, object, number | undefined]> = [
    ["closing", { closing: setTimeout(() => {}, 0), since: now }, 0],
    ["without a request for long", { since: 0 }, 1],
    ["idle", { request: { complete: true }, response: { writableFinished: true }, since: now }, 2],
    ["new", { since: now }, 3],
    ["receiving slowly", { request: { complete: false }, response: {}, since: 0 }, 4],
    ["taking the response slowly", { request: { complete: true }, response: { headersSent: true }, since: 0 }, 4],
    ["receiving", { request: { complete: false }, response: {}, since: now }, undefined],
    ["being handled", { request: { complete: true }, response: {}, since: 0 }, undefined]
  ]
  it.each(cases)("%s", (_, connection, rank) => {
    assert.strictEqual(rankConnection(connection as Parameters<typeof rankConnection>[0], now), rank)
  })
})

describe("bodies", () => {
  const large = (bytes: number) =>
    Buffer.concat([
      Buffer.from(post("/webhooks/github", { ...forged, "content-length": 24 * mebibyte })),
      Buffer.alloc(bytes, "a")
    ])

  it("that are unfinished and fill the budget do not shut out small ones", async () => {
    await start({ body_mb_per_client: 1024 })
    const held = await Promise.all(
      Array.from({ length: 8 }, (_, at) => hold(`127.0.3.${at + 1}`, large(20 * mebibyte)))
    )
    const answer = await Promise.race(held.map((connection) => (connection.socket.resume(), connection.answer)))
    assert.strictEqual(answer?.status, 503)
    assert.deepStrictEqual(await served(), both)
  })

  it("of one client are bounded, and leave room for large ones of others", async () => {
    await start({ body_mb_per_client: 25 })
    const held = await Promise.all(Array.from({ length: 4 }, () => hold("127.0.3.1", large(20 * mebibyte))))
    const answer = await Promise.race(held.map((connection) => (connection.socket.resume(), connection.answer)))
    assert.strictEqual(answer?.status, 503)
    const body = JSON.stringify({ ...pullRequest(), filler: "x".repeat(20 * mebibyte) })
    assert.strictEqual((await deliver(ingress, "pull_request", body)).status, 202)
  })

  it("that have no room are refused and not read on", async () => {
    await start({ body_mb_per_client: 25 }, {}, { webhook_body_limit_mb: 60 })
    const held = [1, 2, 3].map(() => hold("127.0.3.1", large(20 * mebibyte)))
    for (const { socket } of await Promise.all(held)) {
      await waitUntil(() => socket.writableLength === 0, { describe: () => "the body is sent" })
    }
    // Data that remains in buffers of the connections is read during these requests.
    for (let at = 0; at < 20; at++) await served()
    const refused = await hold("127.0.3.1", post("/webhooks/github", { ...forged, "content-length": 59 * mebibyte }))
    const { socket } = refused
    const piece = Buffer.alloc(64 * 1024, "a")
    let sent = 0
    const pump = () => {
      do sent += piece.length
      while (sent < 59 * mebibyte && socket.write(piece))
    }
    socket.on("drain", pump).resume()
    pump()
    assert.strictEqual((await refused.answer)?.status, 503)
    await refused.closed
    // Little data fitted, and the rest waits in buffers of the connection.
    assert.isBelow(sent, 25 * mebibyte)
  })

  it("are counted by the client that a trusted proxy names", async () => {
    await start({ body_mb_per_client: 25 }, {}, { trust_proxy: "loopback" })
    const from = (client: string) =>
      hold(
        "127.0.0.1",
        Buffer.concat([
          Buffer.from(
            post("/webhooks/github", { ...forged, "x-forwarded-for": client, "content-length": 24 * mebibyte })
          ),
          Buffer.alloc(20 * mebibyte)
        ])
      )
    const held = [await from("203.0.113.1"), await from("203.0.113.1")]
    const answer = await Promise.race(held.map((connection) => (connection.socket.resume(), connection.answer)))
    assert.strictEqual(answer?.status, 503)
    const body = JSON.stringify({ ...pullRequest(), filler: "x".repeat(20 * mebibyte) })
    const headers = { "x-forwarded-for": "203.0.113.2" }
    assert.strictEqual((await deliver(ingress, "pull_request", body, headers)).status, 202)
  })

  it("that come in too slowly are given up", async () => {
    await start({ body_min_rate: 1000 }, { slowBodyMillis: 200 })
    const slow = await hold("127.0.0.1", halfBody)
    slow.socket.resume()
    const dripping = setInterval(() => slow.socket.write("x"), 20)
    assert.strictEqual((await slow.answer)?.status, 408)
    await slow.closed
    clearInterval(dripping)
  })

  it("of ordinary size fit although their client has used up its share", async () => {
    await start({ body_mb_per_client: 1 }, {}, { webhook_body_limit_mb: 1 })
    const bytes = Buffer.concat([
      Buffer.from(post("/webhooks/github", { ...forged, "content-length": mebibyte })),
      Buffer.alloc(mebibyte - 10, "a")
    ])
    const held = await hold("127.0.0.1", bytes)
    await waitUntil(() => held.socket.writableLength === 0, { describe: () => "all of it is sent" })
    for (let at = 0; at < 3; at++) assert.deepStrictEqual(await served(), both)
    assert.strictEqual(held.received(), "")
  })

  it("in chunks of one byte are held as the bytes that they are", async () => {
    const reader = new BodyReader({ totalBytes: mebibyte, clientBytes: mebibyte, minRate: 0, graceMillis: 1000 })
    const request = Object.assign(new PassThrough(), { headers: {} })
    const size = 100_000
    const reading = reader.read(request as unknown as IncomingMessage, mebibyte, "client", () => {})
    for (let at = 0; at < size; at++) request.write(Buffer.of(at % 256))
    request.end()
    const body = await reading
    if (body._tag !== "Read") throw new Error(body._tag)
    assert.isAtMost(body.blocks.length, 10)
    const bytes = Buffer.concat(body.blocks)
    assert.strictEqual(bytes.length, size)
    assert.isTrue(bytes.every((byte, at) => byte === at % 256))
  })
})

describe("large bodies", () => {
  it("are verified in turns: others are served while they are", async () => {
    // Every delivery is checked against all of them.
    const triggers = Array.from({ length: 60 }, (_, at) => ({
      name: `tea-${at}`,
      kind: "gitea",
      webhook_secret: `secret ${at}`,
      base_url: "https://gitea.test"
    }))
    const body = Buffer.alloc(20 * mebibyte, "+")
    body.write("payload=")
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "content-length": body.length,
      "x-gitea-event": "push",
      "x-gitea-signature": "0".repeat(64)
    }
    ingress = started = await startIngress({ document: { ...document, triggers: [...document.triggers, ...triggers] } })
    let answered = 0
    const attackers = await Promise.all(
      Array.from({ length: 3 }, async (_, at) => {
        const attacker = open(ingress.port, `127.0.3.${at + 1}`)
        opened.push(attacker)
        const sent = new Promise((resume) =>
          attacker.socket.write(Buffer.concat([Buffer.from(post("/webhooks/gitea", headers)), body]), resume)
        )
        const answer = attacker.answer.then((value) => {
          answered++
          return value?.status
        })
        await sent
        return { answer }
      })
    )
    for (let at = 0; at < 4; at++) assert.deepStrictEqual(await served(), both)
    // The last body is verified after the others.
    assert.isBelow(answered, attackers.length)
    assert.deepStrictEqual(await Promise.all(attackers.map(({ answer }) => answer)), [401, 401, 401])
  })
})
