/** No response and no record of the administration contains a credential: searched for in the bytes. */
import { readdirSync, readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Layer } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import * as Store from "../../../src/store/StoreLayer.ts"
import { sealingKey } from "../../harness/ConfigSource.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { hmac, pullRequest } from "../../ingress/Ingress.ts"
import { password, startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

const webhookSecret = "words-of-the-webhook"
const hostToken = "words-of-the-host-token"
const apiKey = "words-of-the-api-key"
const literal = "words-of-a-database-literal"
const env = {
  SVC_ADMIN_USERNAME: "root",
  SVC_ADMIN_PASSWORD: password,
  SECRET: webhookSecret,
  TOKEN: hostToken,
  API_KEY: apiKey
}
const secrets = [webhookSecret, hostToken, apiKey, literal, password, sealingKey, "enc:v1."]

let folder: string
let admin: AdminServer
let token: unknown
const texts: Array<string> = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "aicr-secrets-"))
  admin = await startAdmin({
    database: true,
    document: {
      server: { auth: { enabled: true, api_key_env: "API_KEY" } },
      triggers: [
        {
          name: "main",
          kind: "gitea",
          base_url: "http://127.0.0.1:9",
          webhook_secret_env: "SECRET",
          token_env: "TOKEN"
        },
        { name: "calls", kind: "manual" }
      ]
    },
    env,
    records: Layer.fresh(Store.layerSqlite({ path: join(folder, "svc.db"), migrate: "auto" }))
  })
  token = await admin.token()
})
afterAll(async () => {
  await admin.stop()
  await rm(folder, { recursive: true, force: true })
})

const call = async (method: string, path: string, body?: unknown) => {
  const reply = await admin.call(method, path, { token, body })
  texts.push(reply.text)
  return reply
}
const creation = (name: string) => ({
  op: "create",
  entity: { kind: "triggers", name },
  value: { kind: "gitea", base_url: `https://${name}.example`, webhook_secret: literal }
})
const send = async (path: string, payload: unknown, headers: Record<string, string>): Promise<string> => {
  const body = JSON.stringify(payload)
  const response = await fetch(`${admin.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gitea-signature": hmac(body, webhookSecret), ...headers },
    body
  })
  const text = await response.text()
  texts.push(text)
  return String(Object(JSON.parse(text)).event_id)
}
const keptBody = (id: string) =>
  waitUntil(async () => (await call("GET", `/events/${id}/payload`)).status === 200, { describe: () => "it is kept" })

/** Reads events until the first one about deliveries, which follows the beginning. */
const readLive = async (): Promise<string> => {
  const response = await fetch(`${admin.url}/api/admin/live`, { headers: { authorization: `Bearer ${String(token)}` } })
  if (response.body === null) throw new Error("no events")
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ""
  while (!text.includes("deliveries")) {
    const { done, value } = await reader.read()
    if (done) break
    text += value
  }
  await reader.cancel()
  return text
}

it("contains no secret: configuration, drafts, exports, differences, audits, deliveries, live events, log", async () => {
  await call("POST", "/config/changesets", { base_revision: 0, operation_id: "one", operations: [creation("one")] })
  const edit = { base_revision: 1, operations: [creation("two")] }
  await call("POST", "/config/validate", edit)
  await call("POST", "/config/validate", { ...edit, operations: [{ ...creation("one"), reason: literal }] })
  const draft = await call("POST", "/config/drafts", { ...edit, title: "A draft" })
  assert.strictEqual(draft.status, 201)
  await call("PUT", `/config/drafts/${String(draft.body["id"])}`, { ...edit, title: "A draft", version: 1 })
  const exported = await fetch(`${admin.url}/api/admin/config/export`, {
    headers: { authorization: `Bearer ${String(token)}` }
  })
  const yaml = await exported.text()
  texts.push(yaml)
  await call("POST", "/config/import", { yaml: `${yaml}\nnothing: ${literal}` })
  await call("POST", "/config/revisions/1/preview-restore")
  await call("POST", "/config/reseal")
  for (const path of [
    "",
    "/drafts",
    "/revisions",
    "/revisions/1",
    "/operations/one",
    "/audit",
    "/status",
    "/workspaces/app"
  ])
    await call("GET", `/config${path}`)

  const event = { "x-gitea-event": "pull_request", "x-gitea-delivery": "first" }
  const note = `${webhookSecret} ${hostToken} ${apiKey}`
  const delivered = await send(
    "/webhooks/gitea",
    { ...pullRequest(), note, token: "words-of-another" },
    {
      ...event,
      "x-note": hostToken
    }
  )
  await keptBody(delivered)
  const called = await send(
    "/triggers/manual",
    { repo: "acme/app", head: "main", workspace: "app", url: "https://git.test/?token=words-of-another" },
    { "x-api-key": apiKey }
  )
  await keptBody(called)
  await call("POST", `/events/${delivered}/replay`)
  await call("POST", "/triggers/main/check")
  await call("POST", "/queue/pause", { workspace: "app", reason: "a pause", password: literal })
  for (const path of [
    "/events",
    `/events/${delivered}`,
    "/queue",
    "/audit",
    "/triggers",
    "/nodes",
    "/budgets",
    "/runs"
  ])
    await call("GET", path)
  texts.push(await readLive())

  const holds = (parts: ReadonlyArray<string | Buffer>, text: string) => parts.some((part) => part.includes(text))
  const files = () => readdirSync(folder).map((name) => readFileSync(join(folder, name)))
  await waitUntil(() => holds(files(), "events.replay"), { describe: () => "the audit is written" })
  // Text that is not a secret is found, so the search reads what was written.
  for (const found of ["events.replay", "acme/app", "[redacted]"]) assert.isTrue(holds(files(), found), found)
  for (const found of ["********", "deliveries", "A draft"]) assert.isTrue(holds(texts, found), found)
  for (const secret of secrets) {
    assert.isFalse(holds(files(), secret), `a file holds ${secret}`)
    assert.isFalse(holds(texts, secret), `a response holds ${secret}`)
    assert.isFalse(holds(admin.logged, secret), `the log holds ${secret}`)
  }
})
