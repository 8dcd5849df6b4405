/** All routes except webhooks: health, readiness, metrics, dashboard, prefix, errors, start and stop. */
import { createServer } from "node:net"
import { Effect } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { listNames, listSpellings } from "../../src/domain/Vocabulary.ts"
import { normalisePrefix, parseRoute } from "../../src/ingress/Routes.ts"
import { waitUntil } from "../harness/Wait.ts"
import type { Ingress } from "./Ingress.ts"
import { deliver, document, forged, hmac, pullRequest, startIngress } from "./Ingress.ts"
import { open, post } from "./Raw.ts"

let ingress: Ingress | undefined
afterEach(async () => {
  await ingress?.stop()
  ingress = undefined
})

describe("routes", () => {
  it("accept hosts by product name and by token", () => {
    for (const kind of listNames("webhookPath")) {
      for (const name of [kind, ...listSpellings("webhookPath", kind)]) {
        assert.deepStrictEqual(parseRoute("", `/webhooks/${name}?x=1`), { _tag: "Webhook", kind })
      }
    }
    assert.isUndefined(parseRoute("", "/webhooks/constructor"))
    assert.isUndefined(parseRoute("", "/webhooks/GITHUB"))
  })

  it("stand below the prefix and nowhere else", () => {
    for (const prefix of ["/aicr", "aicr/", "/aicr/"]) assert.strictEqual(normalisePrefix(prefix), "/aicr")
    assert.strictEqual(normalisePrefix("/"), "")
    assert.deepStrictEqual(parseRoute("/aicr", "/aicr/healthz"), { _tag: "Health" })
    assert.deepStrictEqual(parseRoute("/aicr", "/aicr"), { _tag: "Dashboard", path: "" })
    for (const path of ["/healthz", "/aicrhealthz", "/", "*", ""]) assert.isUndefined(parseRoute("/aicr", path))
  })
})

describe("pages", () => {
  it("healthz, readyz and metrics", async () => {
    ingress = await startIngress()
    const get = (path: string, method = "GET") => fetch(`${ingress?.url}${path}`, { method })
    const health = await get("/healthz")
    assert.deepStrictEqual([health.status, await health.json()], [200, { status: "up" }])
    const ready = await get("/readyz")
    assert.deepStrictEqual([ready.status, await ready.json()], [200, { status: "ready" }])
    const probe = await get("/healthz", "HEAD")
    assert.deepStrictEqual([probe.status, await probe.text()], [200, ""])
    await deliver(ingress, "pull_request", pullRequest({ pull: { draft: true } }))
    const metrics = await (await get("/metrics")).text()
    assert.match(metrics, /aicr_webhook_decisions_total\{[^}]*reason="draft"[^}]*\} \d/)
    assert.match(metrics, /aicr_webhook_duration_seconds_bucket/)
    assert.notInclude(metrics, "acme")
  })

  it("metrics can be switched off", async () => {
    ingress = await startIngress({ document: { ...document, server: { metrics: { enabled: false } } } })
    assert.strictEqual((await fetch(`${ingress.url}/metrics`)).status, 404)
  })

  it("the dashboard exists only while login is enabled", async () => {
    ingress = await startIngress()
    for (const path of ["/", "/dashboard", "/dashboard/runs"]) {
      const off = await fetch(`${ingress.url}${path}`)
      assert.strictEqual(off.status, 404)
      assert.include(await off.text(), "SVC_ADMIN_USERNAME")
    }
    await ingress.stop()
    ingress = await startIngress({ env: { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: "x" } })
    const on = await fetch(`${ingress.url}/dashboard`)
    assert.strictEqual(on.status, 200)
    assert.match(on.headers.get("content-type") ?? "", /text\/html/)
    assert.include(await on.text(), "aicr")
  })

  it("errors are problem details with a code and an id that is not the sender's", async () => {
    ingress = await startIngress({ document: { ...document, server: { path_prefix: "/aicr" } } })
    assert.match(ingress.url, /\/aicr$/)
    const base = `http://127.0.0.1:${ingress.port}`
    const missing = await fetch(`${base}/healthz`, { headers: { "x-request-id": "mine" } })
    assert.strictEqual(missing.status, 404)
    assert.strictEqual(missing.headers.get("content-type"), "application/problem+json")
    assert.deepInclude(await missing.json(), { status: 404, code: "not_found" })
    assert.match(missing.headers.get("x-request-id") ?? "", /^[0-9a-f-]{36}$/)
    const wrong = await fetch(`${base}/aicr/healthz`, { method: "DELETE" })
    assert.deepStrictEqual([wrong.status, wrong.headers.get("allow")], [405, "GET, HEAD"])
    assert.strictEqual((await fetch(`${base}/aicr/healthz`)).status, 200)
    assert.strictEqual((await deliver(ingress, "pull_request", pullRequest())).status, 202)
  })
})

describe("start and stop", () => {
  it("an address in use is explained", async () => {
    const other = createServer()
    await new Promise<void>((resume) => other.listen(0, "0.0.0.0", resume))
    const address = other.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const failure = await startIngress({ port }).then(
      () => "started",
      (error: Error) => error.message
    )
    other.close()
    assert.match(failure, new RegExp(`Cannot listen on 0\\.0\\.0\\.0:${port}: the address is in use`))
  })

  it("stopping finishes what is under way and takes nothing new", async () => {
    const started = await startIngress()
    const body = JSON.stringify(pullRequest())
    const underWay = open(started.port)
    const idle = open(started.port)
    underWay.socket.write(
      post("/webhooks/github", {
        "content-length": Buffer.byteLength(body),
        "x-github-event": "pull_request",
        "x-hub-signature-256": `sha256=${hmac(body)}`,
        expect: "100-continue"
      })
    )
    await waitUntil(() => underWay.received().startsWith("HTTP/1.1 100"), { describe: underWay.received })
    const stopped = started.stop()
    await idle.closed
    const late = open(started.port)
    await late.closed
    assert.strictEqual(late.received(), "")
    underWay.socket.write(body)
    const answer = await underWay.answer
    assert.deepStrictEqual([answer?.status, answer?.headers["connection"]], [202, "close"])
    await stopped
    const id = JSON.parse(answer?.body ?? "{}").event_id
    assert.isString(id)
  })

  it("stopping does not wait for ever", async () => {
    const started = await startIngress({ graceMillis: 100 })
    const stuck = open(started.port)
    stuck.socket.write(post("/webhooks/github", { ...forged, "content-length": 100 }, "{"))
    await waitUntil(async () => (await fetch(`${started.url}/healthz`)).ok, { describe: () => "the server answers" })
    await started.stop()
    await stuck.closed
    assert.strictEqual(await Effect.runPromise(Effect.succeed(stuck.received())), "")
  })
})
