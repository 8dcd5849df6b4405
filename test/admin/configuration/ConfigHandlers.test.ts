/** The configuration over HTTP: what is effective, edits, drafts and their refusals. */
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Reason } from "../../../src/domain/Reason.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

const decodeReason = Schema.decodeUnknownSync(Reason)
const renderOrigin = (origin: unknown): string => inEnglish(decodeReason(origin))

const secret = "literal-secret-0815"
let admin: AdminServer
let token: unknown
beforeAll(async () => {
  admin = await startAdmin({ database: true })
  token = await admin.token()
})
afterAll(() => admin.stop())

const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  admin.call(method, `/config${path}`, { token, body, headers })

/** Creates a trigger, whose name makes the operation id unique too. */
const creation = (name: string) => ({
  op: "create",
  entity: { kind: "triggers", name },
  value: { kind: "gitea", base_url: `https://${name}.example`, webhook_secret: secret }
})
const setEnabled = (name: string, enabled: boolean) => ({
  op: "set_enabled",
  entity: { kind: "triggers", name },
  enabled
})
const head = async () => Number((await call("GET", "/status")).body["head"])
const publish = async (operation_id: string, operations: ReadonlyArray<unknown>, more: object = {}, headers = {}) =>
  call("POST", "/changesets", { base_revision: await head(), operation_id, operations, ...more }, headers)

describe("the effective configuration", () => {
  it("has origins, masks and the newest revision as its entity tag", async () => {
    const setField = { op: "set", path: ["review", "max_problems"], value: 20 }
    assert.strictEqual((await publish("effective-1", [creation("effective"), setField])).status, 200)
    const { body, headers, text } = await call("GET", "")
    assert.strictEqual(headers.get("etag"), `"${await head()}"`)
    const values: ReadonlyArray<Record<string, unknown>> = Array.isArray(body["values"]) ? body["values"] : []
    const origins = new Map(values.map(({ origin, path }) => [String(path), renderOrigin(origin)]))
    assert.match(origins.get("workspaces.instances.app.source_repo.repo") ?? "", /^config\.yaml:\d+$/)
    assert.strictEqual(origins.get("review.max_problems"), `database revision ${await head()} by root`)
    assert.match(JSON.stringify(body["owned_by_file"]), /"entity":"triggers\/main","line":\d+/)
    assert.include(text, "********")
    assert.notInclude(text, secret)
  })

  it("has the values of a workspace", async () => {
    const { body, status } = await call("GET", "/workspaces/app")
    assert.strictEqual(status, 200)
    const values: ReadonlyArray<Record<string, unknown>> = Array.isArray(body["values"]) ? body["values"] : []
    const origins = values.map(({ origin }) => renderOrigin(origin))
    assert.isTrue(origins.some((origin) => /^config\.yaml:\d+ \(workspaces\.instances\.app\)$/.test(origin)))
    const none = await call("GET", "/workspaces/nothing")
    assert.deepStrictEqual([none.status, none.body["code"]], [404, "workspace_not_found"])
  })

  it("has a JSON Schema and names for fields that refer to others", async () => {
    assert.strictEqual((await call("GET", "/schema")).body["title"], "aicr configuration")
    const { body } = await call("GET", "/options/triggers")
    assert.include(body["items"], "main")
    assert.include(JSON.stringify((await call("GET", "/options/providerKind")).body), "anthropic")
    const none = await call("GET", "/options/nothing")
    assert.deepStrictEqual([none.status, none.body["code"]], [404, "option_source_not_found"])
  })
})

describe("changesets", () => {
  it("are applied once per operation id", async () => {
    const base_revision = await head()
    const body = { base_revision, operation_id: "once", operations: [creation("once")], reason: "test" }
    const first = await call("POST", "/changesets", body)
    assert.deepInclude(first.body["revision"], { number: base_revision + 1, actor: "root", reason: "test" })
    const again = await call("POST", "/changesets", body)
    assert.deepStrictEqual(Object(again.body["revision"]).number, base_revision + 1)
    const operation = await call("GET", "/operations/once")
    assert.include(operation.body, { status: "committed", revision: base_revision + 1 })
    const other = await call("POST", "/changesets", { ...body, operations: [creation("another")] })
    assert.deepStrictEqual([other.status, other.body["code"]], [409, "operation_id_reused"])
    assert.strictEqual((await call("GET", "/operations/never")).body["code"], "operation_not_found")
  })

  it("of an older revision are rebased, and conflict where others changed the same field", async () => {
    await publish("rebase-1", [creation("rebase")])
    const base_revision = await head()
    await publish("rebase-2", [setEnabled("rebase", false)])
    const rebased = await call("POST", "/changesets", {
      base_revision,
      operation_id: "rebase-3",
      operations: [creation("rebase2")]
    })
    assert.deepInclude(rebased.body["revision"], { rebased_from: base_revision })
    const conflict = await call("POST", "/changesets", {
      base_revision,
      operation_id: "rebase-4",
      operations: [setEnabled("rebase", true)]
    })
    assert.deepStrictEqual([conflict.status, conflict.body["code"]], [409, "revision_conflict"])
    assert.deepStrictEqual(conflict.body["head"], await head())
    const [field] = Array.isArray(conflict.body["conflicts"]) ? conflict.body["conflicts"] : []
    assert.deepInclude(field, { entity: "triggers/rebase", path: "enabled", head: false, yours: true })
  })

  it("with if-match conflict with any other revision", async () => {
    const base_revision = await head()
    await publish("strict-1", [creation("strict")])
    const body = { base_revision, operation_id: "strict-2", operations: [creation("strict2")] }
    const refused = await call("POST", "/changesets", body, { "if-match": `"${base_revision}"` })
    assert.deepStrictEqual([refused.status, refused.body["code"]], [409, "revision_conflict"])
    const wrong = await call("POST", "/changesets", body, { "if-match": `"${base_revision + 1}"` })
    assert.deepInclude(wrong.body["issues"], {
      path: "if-match",
      message: "expected the base revision of the edit",
      reason: { _tag: "BaseRevisionExpected" }
    })
    const spelt = await call("POST", "/changesets", body, { "if-match": "latest" })
    assert.deepStrictEqual([spelt.status, spelt.body["code"]], [400, "invalid_payload"])
  })

  it.each([
    ["an entity of the file", setEnabled("main", false), "owned_by_file", "triggers/main"],
    ["an unknown entity", setEnabled("nothing", false), "entity_not_found", "triggers/nothing"],
    [
      "a mask",
      { op: "set", entity: { kind: "triggers", name: "effective" }, path: ["webhook_secret"], value: "********" },
      "masked_secret",
      "triggers/effective"
    ]
  ])("for %s are refused with the reason", async (_, operation, code, entity) => {
    const { body, status } = await publish(`refused-${code}`, [operation])
    assert.deepStrictEqual([status, body["code"]], [422, code])
    const [issue] = Array.isArray(body["issues"]) ? body["issues"] : []
    assert.deepInclude(issue, { code, entity })
  })

  it.each([
    ["no operation", { operations: [] }, "operations"],
    ["too many operations", { operations: Array.from({ length: 201 }, () => setEnabled("main", true)) }, "operations"],
    ["an unknown field", { operations: [setEnabled("main", true)], force: true }, "force"]
  ])("with %s are refused before they are decided", async (_, more, path) => {
    const body = { base_revision: 0, operation_id: "malformed", ...more }
    const { body: problem, status } = await call("POST", "/changesets", body)
    assert.strictEqual(status, 400)
    assert.include(JSON.stringify(problem["issues"]), `"path":"${path}"`)
  })

  it("are previewed without writing", async () => {
    const before = await head()
    const preview = { base_revision: before, operations: [creation("preview")] }
    const { body, text } = await call("POST", "/validate", preview)
    assert.include(body, { valid: true, head: before })
    assert.deepInclude(body["blast_radius"], { triggers: ["preview"] })
    const after = { kind: "gitea", base_url: "https://preview.example" }
    const place = { entity: "triggers/preview", path: "webhook_secret" }
    assert.deepStrictEqual(body["credentials"], [{ ...place, change: "set", after }])
    assert.notInclude(text, secret)
    const refused = await call("POST", "/validate", { ...preview, operations: [setEnabled("main", false)] })
    assert.include(refused.body, { valid: false })
    assert.strictEqual(await head(), before)
  })

  it("show the workspaces that a delivery reaches with them", async () => {
    const source = { vcs: "gitea", repo_ref: "acme/new" }
    const workspace = {
      op: "create",
      entity: { kind: "workspaces", name: "new" },
      value: { source_repo: { trigger: "main", repo: "acme/new" } }
    }
    const { body } = await call("POST", "/preview-route", { trigger: "main", source, operations: [workspace] })
    assert.deepStrictEqual(body, { problems: [], before: [], after: ["new"] })
  })
})

describe("revisions", () => {
  it("are listed newest first, compared and restored", async () => {
    const before = await head()
    await publish("history-1", [creation("history")])
    await publish("history-2", [setEnabled("history", false)])
    const first = await call("GET", "/revisions?limit=1")
    const [newest] = Array.isArray(first.body["items"]) ? first.body["items"] : []
    assert.deepInclude(newest, { number: before + 2, operation_id: "history-2", changes: 1 })
    const second = await call("GET", `/revisions?limit=1&cursor=${String(first.body["next_cursor"])}`)
    assert.deepInclude(Object(second.body["items"])[0], { number: before + 1 })
    const details = await call("GET", `/revisions/${before + 1}`)
    assert.include(details.text, "********")
    assert.notInclude(details.text, secret)
    const preview = await call("POST", `/revisions/${before + 1}/preview-restore`)
    assert.include(preview.body, { valid: true })
    const stale = await call(
      "POST",
      `/revisions/${before + 1}/restore`,
      { operation_id: "restore-0" },
      { "if-match": `"${before}"` }
    )
    assert.deepStrictEqual([stale.status, stale.body["code"]], [409, "revision_conflict"])
    const restored = await call("POST", `/revisions/${before + 1}/restore`, { operation_id: "restore-1" })
    assert.deepInclude(restored.body["revision"], { number: before + 3, restores: before + 1 })
    assert.strictEqual((await call("GET", "/revisions/9999")).body["code"], "revision_not_found")
  })

  it("of each node are in the status", async () => {
    const { body } = await call("GET", "/status")
    assert.include(body, { converged: true, approvals: 0, namespace: "default" })
    assert.deepInclude(Object(body["nodes"])[0], { node: "node-1", state: "active" })
  })
})

describe("drafts", () => {
  it("are saved by version, approved by others, and published", async () => {
    const draft = { title: "Another trigger", base_revision: await head(), operations: [creation("drafted")] }
    const created = await call("POST", "/drafts", draft)
    assert.deepStrictEqual([created.status, created.body["version"], created.body["owner"]], [201, 1, "root"])
    assert.notInclude(created.text, secret)
    const shown = await call("POST", `/drafts/${String(created.body["id"])}/preview`)
    assert.nestedPropertyVal(shown.body, "credentials[0].after.base_url", "https://drafted.example")
    const path = `/drafts/${String(created.body["id"])}`
    const saved = await call("PUT", path, { ...draft, version: 1, title: "A trigger" })
    assert.include(saved.body, { version: 2, title: "A trigger" })
    const stale = await call("PUT", path, { ...draft, version: 1 })
    assert.deepStrictEqual([stale.status, stale.body["code"], stale.body["version"]], [409, "draft_conflict", 2])
    const own = await call("POST", `${path}/approve`, { version: 2 })
    assert.deepStrictEqual([own.status, own.body["code"]], [403, "own_draft"])
    const listed = await call("GET", "/drafts")
    assert.deepInclude(Object(listed.body["items"])[0], { title: "A trigger" })
    assert.notInclude(listed.text, secret)
    const published = await call("POST", `${path}/publish`, { version: 2, operation_id: "draft-1" })
    assert.deepInclude(published.body["revision"], { operation_id: "draft-1" })
    assert.strictEqual((await call("GET", path)).body["code"], "draft_not_found")
  })

  it("are deleted in the version that was read", async () => {
    const draft = { title: "Unwanted", base_revision: await head(), operations: [creation("unwanted")] }
    const path = `/drafts/${String((await call("POST", "/drafts", draft)).body["id"])}`
    assert.strictEqual((await call("DELETE", `${path}?version=2`)).body["code"], "draft_conflict")
    assert.strictEqual((await call("DELETE", `${path}?version=1`)).status, 204)
    assert.strictEqual((await call("DELETE", `${path}?version=1`)).body["code"], "draft_not_found")
  })
})

describe("the document", () => {
  it("is exported with masks, and imported as operations", async () => {
    await publish("export-1", [creation("exported")])
    const response = await fetch(`${admin.url}/api/admin/config/export`, {
      headers: { authorization: `Bearer ${String(token)}` }
    })
    const yaml = await response.text()
    assert.match(response.headers.get("content-type") ?? "", /^application\/yaml/)
    assert.include(yaml, "exported")
    assert.notInclude(yaml, secret)
    const imported = await call("POST", "/import", {
      yaml: yaml.replace("https://exported.example", "https://moved.example")
    })
    assert.include(JSON.stringify(imported.body["operations"]), "https://moved.example")
    const refused = await call("POST", "/import", { yaml: "entities: [" })
    assert.strictEqual(refused.status, 422)
  })

  it("is sealed again with the current key", async () => {
    const started = await call("POST", "/reseal")
    assert.strictEqual(started.status, 202)
    const reseal = await waitUntil(
      async () => {
        const { reseal: job } = (await call("GET", "/status")).body
        return Object(job).state === "running" ? undefined : Object(job)
      },
      { describe: () => "the credentials are sealed" }
    )
    assert.deepInclude(reseal, { id: started.body["id"], state: "done", failed: [], actor: "root" })
    assert.isAbove(reseal.checked, 0)
    const operation = await call("GET", `/operations/${started.body["id"]}`)
    const { checked, resealed } = reseal
    assert.deepInclude(operation.body, { operation_id: reseal.id, status: "done", checked, resealed, failed: [] })
  })
})

describe("the audit log", () => {
  it("lists attempts with their outcomes, also refused ones, without secrets", async () => {
    await publish("audited", [setEnabled("main", false)])
    const { body, text } = await call("GET", "/audit?limit=200")
    assert.deepInclude(Object(body["items"])[0], { action: "publish", outcome: "owned_by_file", actor: "root" })
    assert.notInclude(text, secret)
    const page = await call("GET", "/audit?limit=1")
    assert.isString(page.body["next_cursor"])
  })
})

it("the log of the service contains no secret of an edit", () => {
  assert.notInclude(admin.logged.join("\n"), secret)
})

describe("without a database source", () => {
  it.each([
    ["a process without an editor", {}],
    ["a file that disables it", { database: true, document: { config_sources: { database: { enabled: false } } } }]
  ])("in %s the configuration of the file is listed, and edits are refused", async (_, settings) => {
    const plain = await startAdmin(settings)
    try {
      const opened = await plain.token()
      const { body } = await plain.call("GET", "/config", { token: opened })
      assert.include(body, { head: 0 })
      assert.include(JSON.stringify(body["values"]), "workspaces.instances.app.source_repo.repo")
      const one = await plain.call("GET", "/config/workspaces/app", { token: opened })
      assert.match(
        one.text,
        "database" in settings
          ? /"location":"config\.yaml:\d+","layer":"workspaces\.instances\.app"/
          : /instances\.app"/
      )
      const status = await plain.call("GET", "/config/status", { token: opened })
      assert.deepStrictEqual([status.status, status.body["code"]], [404, "database_source_disabled"])
      assert.include(status.body["detail"], "config_sources.database.enabled")
    } finally {
      await plain.stop()
    }
  })
})
