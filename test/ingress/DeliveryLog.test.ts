/** The log of the webhook path, as lines of JSON. */
import { PassThrough } from "node:stream"
import { Effect, Layer, Schema } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { StoreError } from "../../src/database/StoreError.ts"
import * as Logging from "../../src/observability/logs/Logging.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { waitUntil } from "../harness/Wait.ts"
import type { Ingress, IngressSettings } from "./Ingress.ts"
import { deliver, document, env, forged, head, pullRequest, readEventId, startIngress } from "./Ingress.ts"

let ingress: Ingress
afterEach(() => ingress.stop())

const Line = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const decodeLine = Schema.decodeUnknownSync(Line)

const startLogged = async (settings: IngressSettings = {}) => {
  const destination = new PassThrough()
  let text = ""
  destination.on("data", (chunk) => (text += String(chunk)))
  ingress = await startIngress({
    ...settings,
    logger: Logging.layerWith({ level: "info", pretty: false, destination })
  })
  return (msg: string) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => decodeLine(line))
      .filter((line) => line["msg"] === msg)
}

describe("a verified delivery", () => {
  it("is logged with its decision and names its event in the response", async () => {
    const lines = await startLogged()
    const delivery = { "x-github-delivery": "one" }
    const first = await deliver(ingress, "pull_request", pullRequest(), delivery)
    const again = await deliver(ingress, "pull_request", pullRequest(), delivery)
    const ignored = await deliver(ingress, "pull_request", pullRequest({ repo: "acme/unknown" }))
    const malformed = await deliver(
      ingress,
      "pull_request",
      pullRequest({ pull: { base: { sha: head, ref: "a..b" } } })
    )
    await waitUntil(() => lines("delivery decided").length === 4, { describe: () => "decisions are logged" })
    const [queued, duplicate, unknown, rejected] = lines("delivery decided")
    assert.deepInclude(queued, {
      level: "info",
      event_id: first.body.event_id,
      repository: "acme/app",
      number: 7,
      head,
      workspace: "on-hub",
      trigger: "hub",
      sender: "ada",
      decision: "queued"
    })
    assert.match(String(queued?.["entry_id"]), /^[\da-f-]{36}$/)
    assert.match(String(queued?.["due_at"]), /^\d{4}-.*Z$/)
    assert.deepStrictEqual(lines("entry queued"), [])
    assert.deepInclude(duplicate, { event_id: first.body.event_id, decision: "duplicate" })
    assert.deepInclude(unknown, { decision: "ignored", reason: "repository_not_configured", number: 7, head })
    assert.deepInclude(rejected, {
      event_id: malformed.headers.get("x-request-id"),
      decision: "rejected",
      reason: "invalid_payload",
      repository: "acme/app",
      number: 7,
      head
    })
    assert.deepStrictEqual(
      [first, again, ignored].map(({ headers }) => headers.get("x-aicr-event")),
      [readEventId(first), readEventId(first), readEventId(ignored)]
    )
  })

  it("stays on one short line, whatever its names contain", async () => {
    const lines = await startLogged()
    const login = `x\n{"level":"error","msg":"forged"}\u001b[2J${"y".repeat(100_000)}`
    await deliver(ingress, "pull_request", { ...pullRequest(), sender: { login } })
    await waitUntil(() => lines("delivery decided").length === 1, { describe: () => "decisions are logged" })
    const [line] = lines("delivery decided")
    assert.include(line?.["sender"], String.raw`\u001b[2Jyyy`)
    assert.isBelow(JSON.stringify(line).length, 2000)
    assert.deepStrictEqual(lines("forged"), [])
  })
})

describe("a call of a trigger", () => {
  it("is logged with its decision and names its event in the response", async () => {
    const lines = await startLogged({
      document: {
        ...document,
        server: { auth: { api_key_env: "GLOBAL_KEY" } },
        triggers: [
          ...document.triggers,
          { name: "ci", kind: "manual" },
          { name: "depot", kind: "perforce", port: "ssl:p4:1666", depot_path: "//depot/main/..." },
          { name: "tree", kind: "subversion", repository_url: "https://svn.test/repo", enabled: false }
        ]
      }
    })
    const call = async (path: string, body: unknown) => {
      const response = await fetch(`${ingress.url}/triggers/${path}`, {
        method: "POST",
        headers: { "x-api-key": env.GLOBAL_KEY, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
      const { event_id }: { readonly event_id?: unknown } = Object(await response.json())
      return { id: event_id, header: response.headers.get("x-aicr-event") }
    }
    const manual = { repo: "acme/app", workspace: "on-hub", head }
    const responses = [
      await call("manual", manual),
      await call("manual", manual),
      await call("manual", { repo: "acme/unknown", head }),
      await call("p4", { changelist: "12" }),
      await call("p4", { changelist: "12" }),
      await call("svn", { revision: "3" })
    ]
    await call("p4", { changelist: "no number" })
    await waitUntil(() => lines("delivery decided").length === 7, { describe: () => "decisions are logged" })
    const logged = lines("delivery decided")
    assert.deepStrictEqual(
      logged.map(({ event, decision, reason }) => [event, decision, reason]),
      [
        ["manual", "queued", undefined],
        ["manual", "duplicate", undefined],
        ["manual", "ignored", "repository_not_configured"],
        ["p4", "queued", undefined],
        ["p4", "duplicate", undefined],
        ["svn", "ignored", "trigger_disabled"],
        ["p4", "rejected", "invalid_payload"]
      ]
    )
    assert.deepInclude(logged[0], { repository: "acme/app", workspace: "on-hub", trigger: "ci", head })
    const ids = logged.slice(0, -1).map(({ event_id }) => event_id)
    assert.deepStrictEqual(
      responses,
      ids.map((id) => ({ id, header: id }))
    )
    assert.deepStrictEqual([ids[0], ids[3]], [ids[1], ids[4]])
  })
})

describe("a rejected signature", () => {
  it.each<readonly [string, Record<string, string>]>([
    ["that the body shows to be wrong", forged],
    ["that the headers show to be none", { "x-hub-signature-256": "sha256=none" }]
  ])("%s warns once per client, with the triggers and without the signature", async (_, headers) => {
    const lines = await startLogged()
    for (let sent = 0; sent < 30; sent++) {
      const { status } = await deliver(ingress, "pull_request", pullRequest(), headers)
      assert.strictEqual(status, 401)
    }
    await deliver(ingress, "pull_request", pullRequest())
    await waitUntil(() => lines("delivery decided").length === 1, { describe: () => "decisions are logged" })
    const warnings = lines("signature of a delivery rejected")
    assert.strictEqual(warnings.length, 1)
    assert.deepInclude(warnings[0], { level: "warn", provider: "github", triggers: ["hub"], suppressed: 0 })
    assert.include(warnings[0]?.["advice"], "webhook_secret_env")
    assert.notInclude(JSON.stringify(warnings), "sha256")
  })
})

it("warns once about deliveries that are not stored, with their provider and reason", async () => {
  const failing = Layer.effect(
    Receipts,
    Effect.map(Receipts, (receipts) =>
      Receipts.of({
        ...receipts,
        storeAll: () =>
          Effect.fail(
            new StoreError({ reason: "unavailable", operation: "receipts.store", why: verbatimReason("disk is full") })
          )
      })
    )
  ).pipe(Layer.provide(Layer.fresh(Store.layerMemory)), Layer.orDie)
  const lines = await startLogged({ receipts: failing })
  for (const _ of [1, 2, 3]) assert.strictEqual((await deliver(ingress, "pull_request", pullRequest())).status, 503)
  const refused = lines("delivery refused, its sender has to repeat it")
  assert.strictEqual(refused.length, 1)
  assert.deepInclude(refused[0], { level: "warn", provider: "github", reason: "store_unavailable" })
})

it("warns once about deliveries without a trigger and calls without a valid key, with the next step", async () => {
  // Of the git hosts only GitHub has a trigger.
  const triggers = [
    { name: "hub", kind: "github", webhook_secret_env: "SECRET" },
    { name: "scripts", kind: "manual" }
  ]
  const lines = await startLogged({
    document: { ...document, triggers, workspaces: { instances: {} }, server: { auth: { api_key: "right-key" } } }
  })
  const send = (path: string) =>
    fetch(`${ingress.url}${path}`, { method: "POST", headers: { "x-api-key": "wrong-key" }, body: "{}" })
  const statuses: Array<number> = []
  for (const path of ["/webhooks/gitlab", "/triggers/svn", "/triggers/manual"])
    for (const _ of [1, 2]) statuses.push((await send(path)).status)
  assert.deepStrictEqual(statuses, [404, 404, 404, 404, 401, 401])
  const warnings = lines("delivery refused, it has no trigger or no valid key")
  assert.deepStrictEqual(
    warnings.map(({ level, provider, reason }) => [level, provider, reason]),
    [
      ["warn", "gitlab", "trigger_not_configured"],
      ["warn", "subversion", "trigger_not_configured"],
      ["warn", "manual", "unauthorized"]
    ]
  )
  assert.include(warnings[0]?.["advice"], "correct the URL")
  assert.include(warnings[2]?.["advice"], "server.auth.api_key_env")
  assert.notInclude(JSON.stringify(warnings), "wrong-key")
})

it("logs and counts an event of a host on an unknown path, and no other request", async () => {
  const lines = await startLogged()
  const send = (path: string, headers: Readonly<Record<string, string>>, method = "POST") =>
    fetch(`${ingress.url}${path}`, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) })
  const gitea = { "x-gitea-event": "pull_request", "x-github-event": "pull_request" }
  assert.strictEqual((await send("/webhook?token=s3cret", gitea)).status, 404)
  assert.strictEqual((await send("/webhook", gitea)).status, 404)
  assert.strictEqual((await send("/healthz", { "x-gitlab-event": "Push Hook" })).status, 405)
  assert.strictEqual((await send("/webhook", {})).status, 404)
  assert.strictEqual((await send("/webhook", gitea, "GET")).status, 404)
  const found = lines("event of a host on an unknown path refused")
  assert.deepStrictEqual(
    found.map(({ level, path, provider }) => [level, provider, path]),
    [
      ["warn", "gitea", "/webhook"],
      ["warn", "gitlab", "/healthz"]
    ]
  )
  assert.include(found[0]?.["advice"], "/webhooks/gitea")
  const metrics = await (await fetch(`${ingress.url}/metrics`)).text()
  assert.match(metrics, /aicr_webhook_decisions_total\{[^}]*provider="gitea"[^}]*\} 2/)
  assert.match(metrics, /reason="unknown_path"/)
})
