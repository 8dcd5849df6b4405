/** Bodies of deliveries and their replays, over real HTTP: kept without credentials, within limits, decided about again. */
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { waitUntil } from "../../harness/Wait.ts"
import { hmac, pullRequest } from "../../ingress/Ingress.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

const webhookSecret = "a-secret-of-the-webhook"
const hostToken = "a-token-of-the-host"
const apiKey = "the-key-of-the-service"
const env = { SECRET: webhookSecret, TOKEN: hostToken, API_KEY: apiKey }
const administrator = { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: "correct horse battery staple" }
const document = {
  server: { auth: { enabled: true, api_key_env: "API_KEY" } },
  triggers: [
    { name: "main", kind: "gitea", base_url: "https://git.test", webhook_secret_env: "SECRET", token_env: "TOKEN" },
    { name: "calls", kind: "manual" }
  ]
}
const withRetention = (payloads: object) => ({ ...document, storage: { retention: { payloads } } })

let admin: AdminServer
let token: unknown
const start = async (given: object) => {
  admin = await startAdmin({ document: given, env: { ...env, ...administrator } })
  token = await admin.token()
}
const get = (path: string) => admin.call("GET", path, { token })
const replay = (id: string) => admin.call("POST", `/events/${id}/replay`, { token })

const send = async (path: string, body: string, headers: Record<string, string>): Promise<string> => {
  const response = await fetch(`${admin.url}${path}`, { method: "POST", headers, body })
  const { event_id: id } = Object(await response.json())
  return String(id)
}
const deliver = (payload: unknown, headers: Record<string, string> = {}): Promise<string> => {
  const body = JSON.stringify(payload)
  return send("/webhooks/gitea", body, {
    "content-type": "application/json",
    "x-gitea-event": "pull_request",
    "x-gitea-delivery": crypto.randomUUID(),
    "x-gitea-signature": hmac(body, webhookSecret),
    ...headers
  })
}
/** Waits until the body is stored, which happens after the response. */
const payloadOf = (id: string) =>
  waitUntil(
    async () => {
      const found = await get(`/events/${id}/payload`)
      return found.status === 200 ? found : undefined
    },
    { describe: () => `the body of ${id} is stored` }
  )

describe("the body of a delivery", () => {
  beforeAll(() => start(document))
  afterAll(() => admin.stop())

  it("is kept without credentials: configured values, fields by name, texts by form, headers", async () => {
    const id = await deliver(
      {
        ...pullRequest({ pull: { title: `uses ${webhookSecret} and ghp_${"a1".repeat(18)}`, body: hostToken } }),
        secret: "hunter2hunter2",
        clone: "https://bot:hunter3@git.test/acme/app"
      },
      { authorization: "Bearer 0123456789abcdef", "x-note": `of ${apiKey}` }
    )
    const { body, text } = await payloadOf(id)
    for (const secret of [webhookSecret, hostToken, apiKey, "hunter", "a1a1", "0123456789abcdef", "sha256="])
      assert.notInclude(text, secret)
    assert.deepInclude(body, { event_id: id, path: "gitea", cut: false })
    const parsed = JSON.parse(String(body["body"]))
    assert.strictEqual(parsed.pull_request.title, "uses [redacted] and [redacted]")
    assert.deepInclude(parsed, { secret: "[redacted]", clone: "https://[redacted]@git.test/acme/app" })
    assert.deepInclude(body["headers"], {
      "x-gitea-event": "pull_request",
      "x-gitea-signature": "[redacted]",
      authorization: "[redacted]",
      "x-note": "of [redacted]"
    })
  })

  it("is replayed with the current configuration as a new delivery, which is on record", async () => {
    const id = await deliver(pullRequest({ repo: "acme/other" }))
    await payloadOf(id)
    const ignored = await replay(id)
    assert.deepInclude(ignored.body, { id, decision: "ignored", reason: "repository_not_configured" })
    const first = await deliver(pullRequest())
    await payloadOf(first)
    const { body, status } = await replay(first)
    assert.strictEqual(status, 202)
    // The first delivery still waits, so its entry covers the new one too.
    assert.deepInclude(body, { id: first, decision: "coalesced" })
    const again = String(body["event_id"])
    assert.notStrictEqual(again, first)
    const record = (await get(`/events/${again}`)).body
    assert.deepInclude(record, { repo: "acme/app", number: 7, event: "pull_request" })
    assert.deepInclude((await payloadOf(again)).body, { replay_of: first })
    const { items } = (await get("/audit?action=events.replay")).body
    assert.deepInclude(Object(items)[0], { outcome: "done", target: `/events/${first}/replay`, actor: "root" })
    const next = String((await replay(again)).body["event_id"])
    assert.deepInclude((await get(`/events/${again}`)).body, { replay_of: first })
    assert.deepInclude((await get(`/events/${next}`)).body, { replay_of: again, replays: [] })
    const original = (await get(`/events/${first}`)).body
    assert.notProperty(original, "replay_of")
    assert.deepStrictEqual(
      (Array.isArray(original["replays"]) ? original["replays"] : []).map((one) => [
        Object(one).id,
        Object(one).decision
      ]),
      [[again, "coalesced"]]
    )
  })

  it("of a call is kept with the scope of its key, and replayed", async () => {
    const body = JSON.stringify({ repo: "acme/app", head: "main", workspace: "app", title: `x ${apiKey}` })
    const id = await send("/triggers/manual", body, { "content-type": "application/json", "x-api-key": apiKey })
    const kept = await payloadOf(id)
    assert.notInclude(kept.text, apiKey)
    assert.deepInclude((await replay(id)).body, { id, decision: "coalesced" })
  })

  it("cannot be replayed if it is unknown, was never kept, or no response names it", async () => {
    assert.strictEqual((await replay("unknown")).status, 404)
    assert.strictEqual((await get("/events/unknown/payload")).status, 404)
    const events = await admin.run(Receipts.use((receipts) => receipts.list({ limit: 1 })))
    const { id = "", ...event } = events[0] ?? {}
    const copy = { ...event, id: "never-kept", deliveryKey: `${id}-copy` }
    await admin.run(Receipts.use((receipts) => Effect.orDie(receipts.store(Object(copy)))))
    assert.deepInclude((await replay("never-kept")).body, { status: 409, code: "not_replayable" })
  })
})

describe("the limits of storage.retention.payloads", () => {
  it("payloads.max_kb: the end of a longer body is cut off, and it cannot be replayed", async () => {
    await start(withRetention({ max_kb: 1 }))
    const id = await deliver(pullRequest({ pull: { body: "long ".repeat(1000) } }))
    const { body } = await payloadOf(id)
    assert.strictEqual(body["cut"], true)
    assert.isAtMost(String(body["body"]).length, 1024)
    assert.isAbove(Number(body["bytes"]), 5000)
    assert.deepInclude((await replay(id)).body, { code: "not_replayable" })
    await admin.stop()
  })

  it("payloads.max_count: the oldest bodies go", async () => {
    await start(withRetention({ max_count: 1 }))
    const first = await deliver(pullRequest())
    await payloadOf(first)
    const second = await deliver(pullRequest({ pull: { number: 8 } }))
    await payloadOf(second)
    assert.strictEqual((await get(`/events/${first}/payload`)).status, 404)
    await admin.stop()
  })
})
