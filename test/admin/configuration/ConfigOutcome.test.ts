/** Every reason to refuse an edit of the configuration, over HTTP: status, code, entity and field. */
import { Unavailable } from "../../../src/admin/api/Problems.ts"
import { toRefusal } from "../../../src/admin/configuration/ConfigOutcome.ts"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { password, startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"

const administrator = { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: password, SECRET: "s", GRANTED: "g" }
const secret = "literal-secret-0815"

const trigger = (name: string, more: object = {}) => ({
  op: "create",
  entity: { kind: "triggers", name },
  value: { kind: "gitea", base_url: `https://${name}.example`, ...more }
})
const set = (path: ReadonlyArray<string>, value: unknown, name?: string) => ({
  op: "set",
  ...(name === undefined ? {} : { entity: { kind: "triggers", name } }),
  path,
  value
})
const source = (more: object = {}) => ({
  config_sources: {
    database: { enabled: true, ...more },
    secret_refs: [
      {
        env: "GRANTED",
        target: ["triggers", "granted", "token_env"],
        destinations: { granted: { kind: "gitea", endpoints: { base_url: "https://granted.example" } } }
      }
    ]
  }
})

let admin: AdminServer
let token: unknown
const start = async (document: object, env: object = {}) => {
  admin = await startAdmin({ database: true, document, env: { ...administrator, ...env } })
  token = await admin.token()
}
const call = (method: string, path: string, body?: unknown) => admin.call(method, `/config${path}`, { token, body })
const head = async () => Number((await call("GET", "/status")).body["head"])
let made = 0
const publish = async (operations: ReadonlyArray<unknown>, more: object = {}) =>
  call("POST", "/changesets", { base_revision: await head(), operation_id: `op-${++made}`, operations, ...more })

/** Returns the outcomes of the audit, newest first. */
const audited = async (): Promise<ReadonlyArray<string>> => {
  const { items } = (await call("GET", "/audit?limit=10")).body
  assert(Array.isArray(items))
  return items.map(({ action, outcome }) => `${action} ${outcome}`)
}

describe("an edit is refused", () => {
  beforeAll(async () => {
    await start(source())
    assert.strictEqual((await publish([trigger("known"), trigger("sealed", { webhook_secret: secret })])).status, 200)
  })
  afterAll(() => admin.stop())

  it.each([
    ["owned_by_file", [{ op: "delete", entity: { kind: "triggers", name: "main" } }], "triggers/main", ""],
    ["entity_not_found", [set(["enabled"], false, "nothing")], "triggers/nothing", ""],
    ["entity_exists", [trigger("known")], "triggers/known", ""],
    ["invalid_configuration", [set(["review", "max_problems"], "many")], "globals", "review.max_problems"],
    ["invalid_field", [set(["name"], "other", "known")], "triggers/known", "name"],
    ["masked_secret", [set(["webhook_secret"], "********", "known")], "triggers/known", "webhook_secret"],
    [
      "secret_sealing_invalid",
      [set(["webhook_secret"], "enc:v1.00000000.AAAA.AAAA", "known")],
      "triggers/known",
      "webhook_secret"
    ],
    ["secret_ref_missing", [set(["token_env"], "NOT_GRANTED", "known")], "triggers/known", "token_env"],
    ["secret_ref_missing", [trigger("stolen", { token_env: "GRANTED" })], "triggers/stolen", "token_env"],
    [
      "secret_destination_changed",
      [set(["base_url"], "https://evil.example", "sealed")],
      "triggers/sealed",
      "webhook_secret"
    ],
    [
      "invalid_configuration",
      [
        {
          op: "create",
          entity: { kind: "workspaces", name: "lost" },
          value: { source_repo: { trigger: "nowhere", repo: "acme/lost" } }
        }
      ],
      "workspaces/lost",
      "source_repo.trigger"
    ]
  ])("with %s, which names entity and field and is on record", async (code, operations, entity, path) => {
    const { body, status, text } = await publish(operations)
    assert.deepStrictEqual([status, body["code"]], [422, code], text)
    const [issue] = Array.isArray(body["issues"]) ? body["issues"] : []
    assert.deepInclude(issue, { code, entity, path })
    assert.strictEqual((await audited())[0], `publish ${code}`)
    const preview = await call("POST", "/validate", { base_revision: await head(), operations })
    assert.deepInclude(Object(preview.body["problems"])[0], { code, entity, path })
    assert.strictEqual((await audited())[0], `validate ${code}`)
  })

  it("with the conflict and the codes of requests", async () => {
    const before = await head()
    await publish([set(["enabled"], false, "known")])
    const stale = { base_revision: before, operations: [set(["enabled"], true, "known")] }
    const conflict = await call("POST", "/changesets", { ...stale, operation_id: "stale" })
    assert.deepStrictEqual([conflict.status, conflict.body["code"]], [409, "revision_conflict"])
    assert.deepInclude(Object(conflict.body["conflicts"])[0], { entity: "triggers/known", path: "enabled" })
    const reused = await call("POST", "/changesets", { ...stale, base_revision: before + 1, operation_id: "stale" })
    assert.deepStrictEqual([reused.status, reused.body["code"]], [409, "operation_id_reused"])
    const future = await call("POST", "/changesets", { ...stale, base_revision: 9999, operation_id: "future" })
    assert.deepStrictEqual([future.status, future.body["code"]], [404, "revision_not_found"])
    const yaml = await call("POST", "/import", { yaml: "entities: [" })
    assert.deepStrictEqual([yaml.status, yaml.body["code"]], [422, "invalid_yaml"])
    const wrong = await call("POST", "/import", { yaml: `entities: {triggers: {x: {kind: gitea, ${secret}: 1}}}` })
    assert.strictEqual(wrong.status, 422)
    assert.deepStrictEqual(
      (await audited()).slice(0, 5),
      [
        `import ${String(wrong.body["code"])}`,
        "import invalid_yaml",
        "publish revision_not_found",
        "publish operation_id_reused",
        "publish revision_conflict"
      ],
      wrong.text
    )
    const valid = await call("POST", "/import", { yaml: "entities: {}" })
    assert.strictEqual(valid.status, 200, valid.text)
    assert.strictEqual((await audited())[0], "import done")
  })

  it("with too_many_drafts, for one more than the limit of an owner", async () => {
    const draft = { title: "A draft", base_revision: await head(), operations: [] }
    const statuses = new Set<number>()
    for (let number = 1; number <= 50; number++) statuses.add((await call("POST", "/drafts", draft)).status)
    assert.deepStrictEqual([...statuses], [201])
    const { body, status } = await call("POST", "/drafts", draft)
    assert.deepStrictEqual([status, body["code"]], [422, "too_many_drafts"])
  })
})

describe("an edit is refused by the configuration", () => {
  it("with secrets_key_missing, and nothing is written", async () => {
    await start(source(), { SVC_CONFIG_SECRETS_KEY: "" })
    const { body, status } = await publish([trigger("sealed", { webhook_secret: secret })])
    assert.deepStrictEqual([status, body["code"]], [422, "secrets_key_missing"])
    assert.deepInclude(Object(body["issues"])[0], { entity: "triggers/sealed", path: "webhook_secret" })
    assert.strictEqual(await head(), 0)
    const reseal = await call("POST", "/reseal")
    assert.deepStrictEqual([reseal.status, reseal.body["code"]], [422, "secrets_key_missing"])
    await admin.stop()
  })

  it("with approval_required, where approvals are configured", async () => {
    await start(source({ approvals: 1 }))
    const { body, status } = await publish([trigger("unapproved")])
    assert.deepStrictEqual([status, body["code"]], [403, "approval_required"])
    assert.strictEqual((await audited())[0], "publish approval_required")
    await admin.stop()
  })

  it("with database_source_disabled, where the file does not enable the database", async () => {
    admin = await startAdmin({ env: administrator })
    token = await admin.token()
    const { body, status } = await call("POST", "/changesets", {
      base_revision: 0,
      operation_id: "disabled",
      operations: [trigger("any")]
    })
    assert.deepStrictEqual([status, body["code"]], [404, "database_source_disabled"])
    await admin.stop()
  })
})

it("source_contended is a response that may be repeated", () => {
  const refusal = toRefusal([
    { code: "source_contended", entity: "", path: "", reason: verbatimReason("repeat the request") }
  ])
  assert.instanceOf(refusal, Unavailable)
  assert.deepInclude(refusal, { status: 503, code: "source_contended", detail: "repeat the request" })
})
