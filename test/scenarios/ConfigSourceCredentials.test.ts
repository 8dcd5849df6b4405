/**
 * An editor of the database tries to have the credentials of an installation sent to a server of their own: the whole service runs, and that
 * server receives no request with a credential.
 */
import { generateKeyPairSync } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { AdminSession, adminEnv } from "../harness/AdminSession.ts"
import { Installation } from "../harness/Installation.ts"

const apiKey = "stored-api-key-a1b2c3d4e5"
const token = "stored-token-0f1e2d3c4b"

/** Records every request, and accepts it as a model, a host and a sign-in would. */
const startAttacker = async () => {
  const received: Array<string> = []
  const server = createServer((request, response) => {
    received.push(`${request.method} ${request.url} ${request.headers.authorization ?? ""}`)
    response.writeHead(200, { "content-type": "application/json" }).end("{}")
  })
  await new Promise<void>((resume) => server.listen(0, "127.0.0.1", resume))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    [Symbol.asyncDispose]: () => new Promise<void>((resume) => server.close(() => resume()))
  }
}

const provider = { kind: "providers", name: "p" } as const
const trigger = { kind: "triggers", name: "second" } as const

/** Removes models and workspaces from the file, and returns them for the database. */
const enableDatabase = (at: Installation) => {
  const file = join(at.directory, "config.yaml")
  const document = parse(readFileSync(file, "utf8"))
  const { id: _, api_key_env: __, ...fields } = document.llm.providers[0]
  const { instances } = document.workspaces
  delete document.workspaces.instances
  document.llm.providers = []
  delete document.llm.model_chain
  document.config_sources = { database: { enabled: true } }
  writeFileSync(file, stringify(document))
  return { model: { ...fields, api_key: apiKey }, workspaces: Object.entries(instances) }
}

const moves = (url: string) =>
  [provider, trigger].flatMap((entity) => [
    { op: "rename", entity, to: "hidden" },
    { op: "set", entity: { ...entity, name: "hidden" }, path: ["base_url"], value: url },
    { op: "rename", entity: { ...entity, name: "hidden" }, to: entity.name }
  ])

describe("an editor of the database", () => {
  it("cannot send stored credentials, or keys of the nodes, to a server of their own", async () => {
    await using attacker = await startAttacker()
    await using at = await Installation.make({
      queue: "sqlite",
      env: { ...adminEnv, SVC_CONFIG_SECRETS_KEY: "11".repeat(32) }
    })
    const { model, workspaces } = enableDatabase(at)
    await at.aicr.start()
    const admin = await AdminSession.open(at.aicr.url)
    const publish = (operations: ReadonlyArray<object>, base: number) =>
      admin.post("/config/changesets", { base_revision: base, operation_id: `at-${base}`, operations })

    const host = at.forge.url
    const first = await publish(
      [
        { op: "create", entity: provider, value: model },
        ...workspaces.map(([name, value]) => ({ op: "create", entity: { kind: "workspaces", name }, value })),
        { op: "create", entity: { kind: "model_groups", name: "default" }, value: [{ provider: "p", model: "fake" }] },
        { op: "create", entity: trigger, value: { kind: "gitea", base_url: host, token } }
      ],
      0
    )
    expect(first).toMatchObject({ status: 200, body: { active: true } })

    const moved = await publish(moves(attacker.url), 1)
    expect(moved).toMatchObject({ status: 422, body: { code: "secret_destination_changed" } })

    const keyFile = join(at.directory, "google-key.json")
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const key = {
      type: "service_account",
      client_email: "node@example",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      token_uri: `${attacker.url}/token`
    }
    writeFileSync(keyFile, JSON.stringify(key), { mode: 0o600 })
    const cloud = {
      kind: "vertex_ai",
      base_url: attacker.url,
      vertex_project: "p",
      vertex_location: "global",
      google_application_credentials: keyFile
    }
    const draft = await admin.post("/config/drafts", {
      title: "Cloud",
      reason: "More models",
      base_revision: 1,
      operations: [
        { op: "create", entity: { kind: "providers", name: "cloud" }, value: cloud },
        {
          op: "update",
          entity: { kind: "model_groups", name: "default" },
          value: [{ provider: "cloud", model: "gemini-2.5-pro" }]
        }
      ]
    })
    expect(draft).toMatchObject({ status: 201 })
    const { id, version } = draft.body
    const published = await admin.post(`/config/drafts/${String(id)}/publish`, { operation_id: "draft", version })
    expect(published).toMatchObject({ status: 422, body: { code: "owned_by_file" } })

    const pull = await at.open("first")
    await at.forge.notify(pull, "opened")
    await at.reviewed(pull)
    expect(new Set(at.model.requests.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${apiKey}`])
    )
    expect(attacker.received).toEqual([])
    expect(at.aicr.log).not.toContain(apiKey)
  }, 120_000)
})
