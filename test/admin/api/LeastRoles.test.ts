/**
 * Requests every operation of the OpenAPI document with every role, over real HTTP: a role without the right gets 403 and the role that it needs,
 * and no other role is refused. What each route needs is listed in the source; this test reads what the service does.
 */
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { readAdminCredentials } from "../../../src/admin/AdminCredentials.ts"
import { openSession } from "../../../src/admin/sessions/Sessions.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { AccessRole, includesRole } from "../../../src/domain/AccessRole.ts"
import { AdminActions } from "../../../src/store/AdminActions.ts"
import { password, startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"
import { listOperations } from "../ApiContract.ts"

const roles = AccessRole.literals

let admin: AdminServer
let root: unknown
const tokens = new Map<AccessRole, unknown>()
let operations: ReadonlyArray<{ readonly method: string; readonly path: string; readonly isOpen: boolean }> = []

const createToken = async (name: string, more: object): Promise<unknown> =>
  (await admin.call("POST", "/tokens", { token: root, body: { name, scopes: [], ...more } })).body["token"]

/** Opens a session of a person with a role. */
const openAs = async (username: string, role: AccessRole): Promise<string> => {
  const env = { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: password }
  const credentials = readAdminCredentials(await Effect.runPromise(toSnapshot({ allow_empty: true }, env)))
  if (credentials === undefined) throw new Error("no credentials")
  return (await admin.run(openSession(credentials, 60, { username, role, origin: undefined }))).token
}

beforeAll(async () => {
  const database = { enabled: true, approvals: 1 }
  admin = await startAdmin({ database: true, document: { config_sources: { database } } })
  root = await admin.token()
  for (const role of roles) tokens.set(role, await createToken(`of-${role}`, { role }))
  const document: unknown = await (await fetch(`${admin.url}/api/openapi.json`)).json()
  operations = listOperations(document).map(({ description, method, path }) => ({
    method,
    path: path.replaceAll(/\{\w+\}/g, "1"),
    isOpen: JSON.stringify(description["security"]) === "[]"
  }))
})
afterAll(() => admin.stop())

/** Sends the request without a body, and reads nothing of a stream. */
const request = async (method: string, path: string, token: unknown) => {
  const end = new AbortController()
  const headers = { authorization: `Bearer ${String(token)}` }
  const response = await fetch(`${admin.url}${path}`, { method, headers, signal: end.signal })
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
  const body: unknown = isStream || response.status === 204 ? {} : await response.json().catch(() => ({}))
  end.abort()
  return { status: response.status, body: Object(body) }
}

describe("every operation", () => {
  it("is refused to the roles below its least one, with the role that it needs, and to no other role", async () => {
    const seen = new Map<string, number>()
    for (const { isOpen, method, path } of operations) {
      if (isOpen || path === "/api/admin/verdicts/statement") continue
      const needed = new Set<AccessRole>()
      for (const role of roles) {
        const { body, status } = await request(method, path, tokens.get(role))
        const name = `${role} ${method} ${path} ${status} ${String(body.code)}`
        assert.notStrictEqual(status, 401, name)
        if (body.code === "role_needed") {
          assert.strictEqual(status, 403, name)
          assert.deepInclude(body.reason, { _tag: "RoleNeeded", role }, name)
          assert.isFalse(includesRole(role, body.reason.needed), name)
          needed.add(body.reason.needed)
        } else {
          for (const least of needed) assert.isTrue(includesRole(role, least), name)
          seen.set(role, (seen.get(role) ?? 0) + 1)
        }
      }
      assert.isAtMost(needed.size, 1, path)
    }
    // An administrator's token has ended every session.
    root = await admin.token()
    const [viewer = 0, operator = 0, editor = 0, administrator = 0] = roles.map((role) => seen.get(role))
    assert.isAtLeast(viewer, 40)
    assert.isAbove(operator, viewer)
    assert.isAbove(editor, operator)
    assert.isAbove(administrator, editor)
  })

  it("that writes is refused to a viewer, apart from the logout and previews", async () => {
    const allowed = []
    for (const { isOpen, method, path } of operations) {
      if (isOpen || method === "GET") continue
      const { status } = await request(method, path, tokens.get("viewer"))
      if (status !== 403) allowed.push(`${method} ${path}`)
    }
    assert.sameMembers(allowed, ["POST /api/admin/logout", "POST /api/admin/config/preview-route"])
  })
})

describe("a role", () => {
  it("and what it may not request are part of the session", async () => {
    const { body } = await admin.call("GET", "/session", { token: await openAs("vera@acme.test", "viewer") })
    assert.include(body, { username: "vera@acme.test", role: "viewer" })
    assert.deepInclude(body["refused"], { "POST /queue/pause": "operator", "GET /tokens": "administrator" })
    assert.notProperty(body["refused"], "GET /runs")
    const { body: all } = await admin.call("GET", "/session", { token: root })
    assert.deepInclude(all, { role: "administrator", refused: {} })
  })

  it("names the person in the audit, also for what was refused", async () => {
    const token = await openAs("otto@acme.test", "operator")
    assert.strictEqual((await admin.call("POST", "/queue/pause", { token, body: { workspace: "app" } })).status, 200)
    assert.strictEqual((await admin.call("POST", "/sessions/revoke", { token })).status, 403)
    const actions = await admin.run(AdminActions.use((all) => all.list({ actor: "otto@acme.test", limit: 9 })))
    assert.deepStrictEqual(
      actions.map(({ action, outcome }) => [action, outcome]),
      [
        ["sessions.revoke", "role_needed"],
        ["queue.pause", "done"]
      ]
    )
    await admin.call("POST", "/queue/resume", { token, body: { workspace: "app" } })
    const named = await admin.run(AdminActions.use((all) => all.list({ actor: "token of-viewer", limit: 20 })))
    assert.isTrue(named.some(({ outcome }) => outcome === "role_needed"))
  })

  it("of an editor publishes with the approval of another person only, never of a program or in an emergency", async () => {
    const [token, other] = [await openAs("edda@acme.test", "editor"), await openAs("emil@acme.test", "editor")]
    const edit = { base_revision: 0, operations: [{ op: "set", path: ["review", "max_passes"], value: 7 }] }
    const emergency = { ...edit, operation_id: "a", break_glass: true, reason: "now" }
    const refused = await admin.call("POST", "/config/changesets", { token, body: emergency })
    assert.deepStrictEqual([refused.status, refused.body["code"]], [403, "role_needed"])
    const draft = (await admin.call("POST", "/config/drafts", { token, body: { title: "Passes", ...edit } })).body
    const path = `/config/drafts/${String(draft["id"])}`
    const approve = async (by: unknown) => {
      const { body, status } = await admin.call("POST", `${path}/approve`, { token: by, body: { version: 1 } })
      return [status, body["code"]]
    }
    assert.deepStrictEqual(await approve(token), [403, "own_draft"])
    assert.deepStrictEqual(await approve(tokens.get("administrator")), [403, "person_needed"])
    assert.deepStrictEqual(await approve(other), [200, undefined])
    const glass = { version: 2, operation_id: "b", break_glass: true, reason: "now" }
    assert.strictEqual((await admin.call("POST", `${path}/publish`, { token, body: glass })).status, 403)
    const publication = { version: 2, operation_id: "c" }
    assert.strictEqual((await admin.call("POST", `${path}/publish`, { token, body: publication })).status, 200)
    const [newest] = Object((await admin.call("GET", "/config/revisions", { token })).body["items"])
    assert.include(newest, { actor: "edda@acme.test" })
  })
})

describe("a token", () => {
  it("has a role for every repository or none, and creates no token", async () => {
    const create = (body: object) =>
      admin.call("POST", "/tokens", { token: root, body: { name: "t", scopes: [], ...body } })
    const issue = async (body: object) => Object((await create(body)).body["issues"])[0]
    assert.deepInclude(await issue({}), { path: "scopes", reason: { _tag: "ScopeOrRoleExpected" } })
    const narrow = { role: "viewer", repositories: ["main:acme/app"] }
    assert.deepInclude(await issue(narrow), { path: "repositories", reason: { _tag: "RoleForEveryRepository" } })
    assert.strictEqual((await create({ role: "owner" })).status, 400)
    const given = { token: tokens.get("administrator"), body: { name: "more", scopes: [], role: "administrator" } }
    assert.include((await admin.call("POST", "/tokens", given)).body, { status: 403, code: "person_needed" })
  })

  it("without a role reaches no path, and one that is revoked or wrong is refused", async () => {
    const scoped = await createToken("scoped", { scopes: ["read", "dispute"] })
    const revoked = await createToken("revoked", { role: "administrator" })
    const { items } = (await admin.call("GET", "/tokens", { token: root })).body
    const found = Object(items).find(({ name }: { name: string }) => name === "revoked")
    assert.strictEqual((await admin.call("GET", "/runs", { token: revoked })).status, 200)
    await admin.call("POST", `/tokens/${found.id}/revoke`, { token: root })
    for (const token of [scoped, revoked, `${String(revoked).slice(0, -1)}!`])
      assert.strictEqual((await admin.call("GET", "/runs", { token })).status, 401)
    // No path is revealed.
    assert.strictEqual((await admin.call("GET", "/nothing", { token: scoped })).status, 401)
    assert.strictEqual((await admin.call("GET", "/nothing", { token: tokens.get("viewer") })).status, 404)
  })
})

describe("sessions", () => {
  it("are listed without their tokens and ended one by one", async () => {
    const own = await admin.token()
    const token = await openAs("lost@acme.test", "viewer")
    const { body, text } = await admin.call("GET", "/sessions", { token: own })
    assert.notInclude(text, token)
    const items: ReadonlyArray<Record<string, unknown>> = Object(body["items"])
    const lost = items.find(({ username }) => username === "lost@acme.test")
    assert.include(lost, { role: "viewer", current: false })
    assert.strictEqual(items.filter(({ current }) => current === true).length, 1)
    const path = `/sessions/${String(lost?.["id"])}/revoke`
    assert.strictEqual((await admin.call("POST", path, { token: own })).status, 204)
    assert.strictEqual((await admin.call("POST", path, { token: own })).status, 404)
    assert.strictEqual((await admin.call("GET", "/runs", { token })).status, 401)
    assert.strictEqual((await admin.call("GET", "/runs", { token: own })).status, 200)
  })
})
