/** Tokens of programs over real HTTP: their text leaves the service once, and is stored and logged nowhere. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { digestToken } from "../../../src/domain/ServiceToken.ts"
import { AdminActions } from "../../../src/store/AdminActions.ts"
import { ServiceTokens } from "../../../src/store/ServiceTokens.ts"
import { removeSecrets } from "../../../src/review/Secrets.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
let session: unknown
beforeAll(async () => {
  admin = await startAdmin()
  session = await admin.token()
})
afterAll(() => admin.stop())

const call = (method: string, path: string, body?: unknown) => admin.call(method, path, { token: session, body })
const create = (name: string, more: object = {}) => call("POST", "/tokens", { name, scopes: ["read"], ...more })

describe("tokens", () => {
  it("are created with scopes, repositories and an end, and listed without their text", async () => {
    const { body, status } = await create("laptop", {
      scopes: ["read", "dispute", "read"],
      repositories: ["main:Acme/App", "main:acme/app"],
      expires_days: 30
    })
    assert.strictEqual(status, 201)
    const { token, ...record } = body
    assert.match(String(token), /^aicr-token-[\w-]{43}$/)
    assert.deepInclude(record, { scopes: ["read", "dispute"], repositories: ["main:acme/app"], created_by: "root" })
    const life = Date.parse(String(record["expires_at"])) - Date.parse(String(record["created_at"]))
    assert.strictEqual(life, 30 * 24 * 60 * 60 * 1000)
    const listed = (await call("GET", "/tokens")).body["items"]
    assert.deepInclude(listed, record)
    const [stored] = await admin.run(ServiceTokens.use(({ list }) => list))
    assert.strictEqual(stored?.digest, digestToken(String(token)))
    const actions = await admin.run(AdminActions.use((all) => all.list({ limit: 50 })))
    assert.isTrue(
      actions.some(
        ({ action, outcome, target }) =>
          action === "tokens.create" && outcome === "done" && target === "/tokens name laptop"
      )
    )
    for (const text of [JSON.stringify([listed, stored, actions]), ...admin.logged])
      assert.notInclude(text, String(token))
    assert.notInclude(removeSecrets(`it is ${String(token)}!`), String(token))
  })

  it.each([
    ["a name with spaces", { name: "my laptop" }, "name"],
    ["no scope", { scopes: [] }, "scopes"],
    ["an unknown scope", { scopes: ["admin"] }, "scopes.0"],
    ["a repository without its trigger", { repositories: ["acme/app"] }, "repositories.0"],
    ["a repository of an unknown trigger", { repositories: ["other:acme/app"] }, "repositories.0"],
    ["no end", { expires_days: 0 }, "expires_days"],
    ["an end after years", { expires_days: 3650 }, "expires_days"],
    ["an unknown field", { rights: "all" }, "rights"]
  ])("with %s are refused", async (_name, more, path) => {
    const { body, status } = await create("valid", more)
    assert.deepInclude(body, { code: "invalid_payload" })
    assert.strictEqual(status, 400)
    const [issue] = Array.isArray(body["issues"]) ? body["issues"] : []
    assert.strictEqual(Object(issue).path, path)
  })

  it("have a name of their own until they are revoked, which may be repeated", async () => {
    const { body } = await create("twice")
    const again = await create("twice")
    assert.deepStrictEqual([again.status, again.body["code"]], [409, "name_taken"])
    const revoked = await call("POST", `/tokens/${String(body["id"])}/revoke`)
    assert.strictEqual(revoked.status, 200)
    assert.isString(revoked.body["revoked_at"])
    assert.deepStrictEqual((await call("POST", `/tokens/${String(body["id"])}/revoke`)).body, revoked.body)
    assert.strictEqual((await create("twice")).status, 201)
    assert.strictEqual((await call("POST", "/tokens/nothing/revoke")).status, 404)
  })

  it("without a role open no path of the administration", async () => {
    const { token } = (await create("narrow")).body
    for (const path of ["/tokens", "/runs", "/config"])
      assert.strictEqual((await admin.call("GET", path, { token })).status, 401)
    assert.strictEqual(
      (await admin.call("POST", "/tokens", { token, body: { name: "x", scopes: ["read"] } })).status,
      401
    )
  })
})
