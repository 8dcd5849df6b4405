/**
 * Tests the rights of the admin API: without a session there are none, and an administrator alone publishes no edit that needs approvals.
 * The writing routes of the configuration are listed, so that a new one fails the test until its right is decided.
 */
import { HttpApi } from "effect/http-api"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { adminPath, AdminHttpApi } from "../../../src/admin/api/AdminHttpApi.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

const routes: Array<string> = []
HttpApi.reflect(AdminHttpApi, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => routes.push(`${endpoint.method} ${endpoint.path.slice(adminPath.length)}`)
})

/** Routes that need no session: they open one, or list public keys. */
const open = [
  "POST /login",
  "POST /login/redeem",
  "GET /login/methods",
  "POST /login/oidc",
  "POST /login/oidc/finish",
  "GET /verdicts/key"
]

/** Routes that write the configuration or a draft of it, by what they do while one approval is required. */
const writing = {
  publishes: ["POST /config/changesets", "POST /config/drafts/:id/publish", "POST /config/revisions/:number/restore"],
  changesDrafts: [
    "POST /config/drafts",
    "PUT /config/drafts/:id",
    "DELETE /config/drafts/:id",
    "POST /config/drafts/:id/approve"
  ],
  sealsOnly: ["POST /config/reseal"],
  computesOnly: [
    "POST /config/validate",
    "POST /config/preview-route",
    "POST /config/revisions/:number/preview-restore",
    "POST /config/drafts/:id/preview",
    "POST /config/import"
  ]
}

let admin: AdminServer
let token: unknown
beforeAll(async () => {
  const database = { enabled: true, approvals: 1 }
  admin = await startAdmin({ database: true, document: { config_sources: { database } } })
  token = await admin.token()
})
afterAll(() => admin.stop())

const call = (method: string, path: string, body?: unknown) => admin.call(method, `/config${path}`, { token, body })
const codeOf = async (method: string, path: string, body?: unknown) => {
  const { body: reply, status } = await call(method, path, body)
  return [status, reply["code"]]
}

describe("without a session", () => {
  it("only a login and public keys can be requested", () => assert.includeMembers(routes, open))

  it.each(routes.filter((route) => !open.includes(route)))("%s is refused", async (route) => {
    const [method = "", path = ""] = route.split(" ")
    const address = `${admin.url}${adminPath}${path.replaceAll(/:\w+/g, "1")}`
    for (const authorization of [undefined, "Bearer ", `Bearer ${"0".repeat(64)}`, "Basic cm9vdDpyb290"]) {
      const response = await fetch(address, { method, headers: authorization === undefined ? {} : { authorization } })
      assert.strictEqual(response.status, 401)
      assert.include(await response.text(), '"unauthorized"')
    }
  })
})

describe("with approvals", () => {
  it("every route that is no read and concerns the configuration is listed by what it does", () => {
    const found = routes.filter((route) => route.includes(" /config") && !route.startsWith("GET "))
    assert.deepStrictEqual(found.toSorted(), Object.values(writing).flat().toSorted())
  })

  it("an administrator alone publishes nothing: no edit, no draft, no restored revision", async () => {
    const operations = [{ op: "set", path: ["review", "max_passes"], value: 7 }]
    const edit = { base_revision: 0, operations }
    const refused = [403, "approval_required"]
    assert.deepStrictEqual(await codeOf("POST", "/changesets", { ...edit, operation_id: "a" }), refused)
    const { body } = await call("POST", "/drafts", { title: "Alone", ...edit })
    const draft = `/drafts/${String(body["id"])}`
    assert.deepStrictEqual(await codeOf("POST", `${draft}/approve`, { version: 1 }), [403, "own_draft"])
    const publication = { version: 1, operation_id: "b" }
    assert.deepStrictEqual(await codeOf("POST", `${draft}/publish`, publication), refused)
    assert.deepStrictEqual(await codeOf("POST", "/revisions/1/restore", { operation_id: "c" }), refused)
    for (const reason of [undefined, "  "]) {
      const given = { break_glass: true, ...(reason === undefined ? {} : { reason }) }
      assert.deepStrictEqual(await codeOf("POST", "/changesets", { ...edit, operation_id: "d", ...given }), refused)
      assert.deepStrictEqual(await codeOf("POST", "/revisions/1/restore", { operation_id: "e", ...given }), refused)
    }
    assert.include((await call("GET", "/status")).body, { head: 0, approvals: 1 })
    const attempts = (await call("GET", "/audit")).body["items"]
    assert.isTrue(Array.isArray(attempts) && attempts.length >= 7)
  })

  it("a rename is an edit like every other, and a stated emergency publishes it and is recorded", async () => {
    const entity = { kind: "prompts", name: "old" }
    const rename = { op: "rename", entity, to: "new" }
    const operations = [{ op: "create", entity, value: "Look closely." }, rename]
    const edit = { base_revision: 0, operations, operation_id: "rename" }
    assert.deepStrictEqual(await codeOf("POST", "/changesets", edit), [403, "approval_required"])
    const { body } = await call("POST", "/changesets", { ...edit, break_glass: true, reason: "the model is down" })
    assert.deepInclude(body["revision"], { number: 1 })
    assert.include((await call("GET", "/audit")).text, "PublishedWithBreakGlass")
  })
})
