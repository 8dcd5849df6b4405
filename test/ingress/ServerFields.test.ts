/** Fields of `server`: each set in a configuration, observed from outside. */
import { Effect } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { freePort } from "../harness/FreePort.ts"
import { waitUntil } from "../harness/Wait.ts"
import type { Ingress, IngressSettings } from "./Ingress.ts"
import { document, env, forged, head, startIngress } from "./Ingress.ts"
import type { RawConnection } from "./Raw.ts"
import { open, post, send } from "./Raw.ts"

const mebibyte = 1024 * 1024
let started: Ingress | undefined
const opened: Array<RawConnection> = []
afterEach(async () => {
  for (const { socket } of opened.splice(0)) socket.destroy()
  await started?.stop()
  started = undefined
})

const start = async (server: object, options: IngressSettings = {}): Promise<Ingress> => {
  started = await startIngress({ ...options, document: { ...document, server } })
  return started
}

const statusOf = async (url: string, init: RequestInit = {}): Promise<number> => (await fetch(url, init)).status

/** Opens a client that sends this, and never closes. */
const hold = async (ingress: Ingress, from: string, bytes: string | Uint8Array): Promise<RawConnection> => {
  const connection = open(ingress.port, from)
  opened.push(connection)
  await new Promise((resume) => connection.socket.once("connect", resume))
  connection.socket.write(bytes)
  return connection
}
const halfHeader = "POST /webhooks/github HTTP/1.1\r\nhost: x\r\n"

/** Returns the number of open connections, including that of this request. */
const connections = async ({ url }: Ingress): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`, { headers: { connection: "close" } })).text()
  return Number(/^aicr_http_connections (\d+)/m.exec(text)?.[1] ?? 0)
}

describe("where the server listens", () => {
  it("port", async () => {
    const port = await freePort()
    await start({ port }, { port: undefined })
    assert.strictEqual(await statusOf(`http://127.0.0.1:${port}/healthz`), 200)
  })

  it("hostname: on that address and on no other", async () => {
    const { port } = await start({ hostname: "127.0.3.7" })
    assert.strictEqual(await statusOf(`http://127.0.3.7:${port}/healthz`), 200)
    const elsewhere = await statusOf(`http://127.0.0.1:${port}/healthz`).catch(() => "refused")
    assert.strictEqual(elsewhere, "refused")
  })

  it("path_prefix: below it and nowhere else", async () => {
    const { port } = await start({ path_prefix: "/reviews" })
    assert.strictEqual(await statusOf(`http://127.0.0.1:${port}/reviews/healthz`), 200)
    assert.strictEqual(await statusOf(`http://127.0.0.1:${port}/healthz`), 404)
  })
})

describe("what is served", () => {
  it("admin_port and metrics_port: there and not on the main port", async () => {
    const [admin_port, metrics_port] = [await freePort(), await freePort()]
    const nodes = [{ name: "one", roles: [], version: "1.0.0", configuration: "c0ffee" }]
    const listed = nodes.map((node) => ({ ...node, needs: [], refusedTemplates: [] }))
    const { port } = await start({ admin_port, metrics_port }, { nodes: Effect.succeed(listed) })
    const paths = ["/webhooks/gitea", "/dashboard", "/metrics", "/healthz", "/readyz"]
    const statuses = (on: number) =>
      Promise.all(
        paths.map((path) =>
          statusOf(`http://127.0.0.1:${on}${path}`, path.startsWith("/webhooks") ? { method: "POST" } : {})
        )
      )
    // Without credentials the dashboard responds with a hint.
    const shown = async (on: number) => (await fetch(`http://127.0.0.1:${on}/dashboard`)).text()
    assert.deepStrictEqual(await statuses(port), [401, 404, 404, 200, 200])
    assert.deepStrictEqual(await statuses(admin_port), [404, 404, 404, 200, 200])
    assert.deepStrictEqual(await statuses(metrics_port), [404, 404, 200, 200, 200])
    const ready = async (on: number): Promise<unknown> => (await fetch(`http://127.0.0.1:${on}/readyz`)).json()
    assert.deepStrictEqual(await ready(admin_port), { status: "ready", nodes })
    for (const on of [port, metrics_port]) assert.deepStrictEqual(await ready(on), { status: "ready" })
    assert.include(await shown(admin_port), "SVC_ADMIN")
    assert.notInclude(await shown(port), "SVC_ADMIN")
  })

  it("metrics.enabled: no metrics where it is false", async () => {
    const { url } = await start({ metrics: { enabled: false } })
    assert.strictEqual(await statusOf(`${url}/metrics`), 404)
  })

  it("auth.api_key: a literal key opens the triggers", async () => {
    const auth = { api_key: "literal-key-of-the-service", api_key_env: "GLOBAL_KEY" }
    const triggers = [...document.triggers, { name: "ci", kind: "manual" }]
    started = await startIngress({ document: { ...document, triggers, server: { auth } } })
    const { url } = started
    const callWith = (key: string) =>
      statusOf(`${url}/triggers/manual`, {
        method: "POST",
        headers: { "x-api-key": key, "content-type": "application/json" },
        body: JSON.stringify({ trigger: "tea", repo: "acme/app", head, base: "b".repeat(40) })
      })
    assert.strictEqual(await callWith("literal-key-of-the-service"), 202)
    assert.strictEqual(await callWith(env.GLOBAL_KEY), 401)
  })
})

describe("what clients may hold", () => {
  it("webhook_body_limit_mb: a larger body is refused", async () => {
    const { port } = await start({ webhook_body_limit_mb: 2 })
    const refused = await send(port, post("/webhooks/github", { ...forged, "content-length": 2 * mebibyte + 1 }))
    assert.strictEqual(refused?.status, 413)
  })

  it("limits.connections: those beyond it are closed", async () => {
    const ingress = await start({ limits: { connections: 16 } })
    for (let at = 0; at < 40; at++) await hold(ingress, `127.0.3.${at + 1}`, halfHeader)
    assert.isAtMost(await connections(ingress), 16)
  })

  it("limits.connections_per_client: those of one client beyond it are closed", async () => {
    const ingress = await start({ limits: { connections_per_client: 4 } })
    for (let at = 0; at < 12; at++) await hold(ingress, "127.0.3.1", halfHeader)
    const left = await waitUntil(
      async () => {
        const count = await connections(ingress)
        return count <= 5 ? count : undefined
      },
      { timeout: 8000, describe: () => "four connections of the client are open" }
    )
    assert.isAtLeast(left, 2)
  })

  it("trust_proxy: connections of a proxy are not those of one client", async () => {
    const limits = { connections_per_client: 4 }
    const ingress = await start({ limits, trust_proxy: ["127.0.3.1"] })
    for (let at = 0; at < 12; at++) await hold(ingress, "127.0.3.1", halfHeader)
    assert.strictEqual(await connections(ingress), 13)
  })

  it("limits.body_mb_per_client: a body beyond it is refused while the others are received", async () => {
    const ingress = await start({ webhook_body_limit_mb: 1, limits: { body_mb_per_client: 1 } })
    const almost = Buffer.concat([
      Buffer.from(post("/webhooks/github", { ...forged, "content-length": mebibyte })),
      Buffer.alloc(mebibyte - 10, "a")
    ])
    const held = await Promise.all([1, 2, 3].map(() => hold(ingress, "127.0.3.1", almost)))
    const refused = await Promise.race(held.map(({ answer }) => answer))
    assert.strictEqual(refused?.status, 503)
  })

  it("limits.body_min_rate: a slower body is given up", async () => {
    const ingress = await start({ limits: { body_min_rate: mebibyte } }, { slowBodyMillis: 200 })
    const slow = await hold(ingress, "127.0.3.1", post("/webhooks/github", { ...forged, "content-length": mebibyte }))
    // Faster than the default rate, and far slower than the configured one.
    const dripping = setInterval(() => slow.socket.write("x".repeat(1000)), 20)
    const answer = await slow.answer
    clearInterval(dripping)
    assert.strictEqual(answer?.status, 408)
  })
})
