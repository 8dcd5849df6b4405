/** Logins at a real OpenID provider: roles and sessions, and attacks on the flow. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import * as SqliteClient from "../../../src/database/sqlite/SqliteClient.ts"
import { AdminActions } from "../../../src/store/AdminActions.ts"
import { layer as recordsOver } from "../../../src/store/StoreLayer.ts"
import { oidcClient, OidcProvider } from "../../harness/OidcProvider.ts"
import type { OidcClaims } from "../../harness/OidcProvider.ts"
import { password, startAdmin } from "../AdminServer.ts"
import type { AdminServer, AdminSettings } from "../AdminServer.ts"

const back = "https://aicr.test/tools/dashboard/login"
const env = { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: password, OIDC_SECRET: oidcClient.secret }
const roles = { viewer: ["all"], operator: ["ops"], administrator: ["admins"] }

let provider: OidcProvider
beforeAll(async () => {
  provider = await OidcProvider.start([back])
})
afterAll(() => provider[Symbol.asyncDispose]())

const servers: Array<AdminServer> = []
afterEach(async () => {
  provider.intercept = () => undefined
  for (const server of servers.splice(0)) await server.stop()
})

const oidcOf = (over: object = {}) => ({
  issuer: provider.issuer,
  client_id: oidcClient.id,
  client_secret_env: "OIDC_SECRET",
  roles,
  ...over
})

const start = async (over: object = {}, settings: AdminSettings = {}) => {
  const server = await startAdmin({
    env,
    document: {
      server: { base_url: "https://aicr.test/", path_prefix: "/tools", trust_proxy: true },
      admin: { oidc: oidcOf(over) }
    },
    ...settings
  })
  servers.push(server)
  return server
}
type Started = AdminServer

const mika: OidcClaims = { sub: "mika", email: "mika@acme.test", email_verified: true, groups: ["ops"] }

const begin = async (admin: Started) => {
  const { body } = await admin.call("POST", "/login/oidc")
  return { url: String(body["url"]), binding: String(body["binding"]) }
}
const finish = (admin: Started, binding: string, response: string, headers: Record<string, string> = {}) =>
  admin.call("POST", "/login/oidc/finish", { body: { binding, response }, headers })

/** Logs a person in; returns the response of the service. */
const logIn = async (admin: Started, person: OidcClaims = mika) => {
  const { binding, url } = await begin(admin)
  const returned = await provider.logIn(url, person)
  return finish(admin, binding, returned.search.slice(1))
}
let clients = 0
/** Another address for each refusal, because failures lock an address. */
const elsewhere = () => ({ "x-forwarded-for": `203.0.113.${++clients}` })

describe("a login at a provider", () => {
  it("opens a session with the role of the person's groups, whom the audit names", async () => {
    const admin = await start()
    assert.deepStrictEqual((await admin.call("GET", "/login/methods")).body, { oidc: true })
    const { body, status } = await logIn(admin)
    assert.deepStrictEqual([status, body["username"]], [200, "mika@acme.test"])
    const { token } = body
    assert.include((await admin.call("GET", "/session", { token })).body, { role: "operator" })
    assert.strictEqual((await admin.call("POST", "/queue/pause", { token, body: { workspace: "app" } })).status, 200)
    assert.strictEqual((await admin.call("GET", "/tokens", { token })).status, 403)
    const actions = await admin.run(AdminActions.use((all) => all.list({ actor: "mika@acme.test", limit: 9 })))
    assert.deepStrictEqual(
      actions.map(({ action, outcome }) => [action, outcome]),
      [
        ["queue.pause", "done"],
        ["login.finishOidc", "done"]
      ]
    )
    const everything = admin.logged.join("\n") + JSON.stringify(actions)
    for (const secret of [String(token), oidcClient.secret]) assert.notInclude(everything, secret)
    assert.strictEqual((await admin.call("POST", "/logout", { token })).status, 204)
    assert.strictEqual((await admin.call("GET", "/session", { token })).status, 401)
  })

  it("sends the person back below the public address, with PKCE, state and nonce", async () => {
    const { url } = await begin(await start())
    const query = new URL(url).searchParams
    assert.strictEqual(query.get("redirect_uri"), back)
    assert.strictEqual(query.get("code_challenge_method"), "S256")
    for (const name of ["code_challenge", "state", "nonce"]) assert.match(query.get(name) ?? "", /^[\w-]{43}$/)
    assert.strictEqual(query.get("scope"), "openid profile email")
  })

  it("of a person in 500 groups stores and returns none of them", async () => {
    const records = Layer.provideMerge(recordsOver("auto"), SqliteClient.layer({ path: ":memory:" }))
    const admin = await start({}, { records })
    const groups = [...Array.from({ length: 500 }, (_, at) => `a-group-with-a-long-name-${at}`), "admins"]
    const { body, status, text } = await logIn(admin, { ...mika, sub: "many", groups })
    assert.strictEqual(status, 200)
    assert.isBelow(text.length, 300)
    const rows = await admin.run(
      Effect.gen(function* () {
        const sql = yield* Effect.serviceOption(SqlClient.SqlClient)
        assert(sql._tag === "Some")
        return JSON.stringify(yield* sql.value`SELECT * FROM admin_sessions`)
      })
    )
    assert.include(rows, "mika@acme.test")
    for (const hidden of ["a-group-with", String(body["token"])]) assert.notInclude(rows, hidden)
  })

  it("reads groups from userinfo where the token has none", async () => {
    const thin = await OidcProvider.start([back], false)
    try {
      const admin = await start({ issuer: thin.issuer })
      const { binding, url } = await begin(admin)
      const returned = await thin.logIn(url, mika)
      assert.strictEqual((await finish(admin, binding, returned.search.slice(1))).status, 200)
      assert.include(thin.requests, "/me")
    } finally {
      await thin[Symbol.asyncDispose]()
    }
  })

  it.each<readonly [string, object, string]>([
    ["no group", { groups: [] }, "OidcNoRole"],
    ["no claim of groups", { groups: undefined }, "OidcGroupsMissing"],
    ["too many groups for a token", { groups: undefined, _claim_names: { groups: "src1" } }, "OidcGroupOverage"],
    ["an address that is not verified", { email_verified: false }, "OidcNameUnverified"],
    ["the name of the administrator", { email: "root", groups: ["admins"] }, "OidcNameTaken"]
  ])("of a person with %s is refused, with the reason", async (_, claims, tag) => {
    const admin = await start()
    const { body, status } = await logIn(admin, { ...mika, sub: `refused-${tag}`, ...claims })
    assert.deepStrictEqual([status, body["code"], Object(body["reason"])._tag], [403, "no_role", tag])
    assert.notProperty(body, "token")
  })

  it("does not replace the password", async () => {
    const admin = await start()
    assert.strictEqual((await admin.login()).status, 200)
  })
})

describe("a session of a provider", () => {
  it("ends when the groups of a role change, at every node, and other sessions do not", async () => {
    const folder = await mkdtemp(join(tmpdir(), "aicr-oidc-"))
    const shared = () =>
      Layer.provideMerge(recordsOver("auto"), SqliteClient.layer({ path: join(folder, "records.db") }))
    const admin = await start({}, { records: shared() })
    const { token } = (await logIn(admin)).body
    const own = await admin.token()
    const status = async (server: Started, given: unknown) =>
      (await server.call("GET", "/runs", { token: given })).status
    const same = await start({}, { records: shared() })
    assert.deepStrictEqual([await status(same, token), await status(same, own)], [200, 200])
    const other = await start({ roles: { ...roles, operator: [] } }, { records: shared() })
    assert.deepStrictEqual([await status(other, token), await status(other, own)], [401, 200])
    for (const server of servers.splice(0)) await server.stop()
    await rm(folder, { recursive: true })
  })
})

describe("an attack on the login", () => {
  const refused = async (reply: Promise<{ readonly status: number; readonly body: Record<string, unknown> }>) => {
    const { body, status } = await reply
    assert.notProperty(body, "token")
    return [status, body["code"], Object(body["reason"])._tag]
  }
  const stale = [401, "login_refused", "OidcStale"]
  const rejected = [401, "login_refused", "OidcRefused"]

  it("with a response to the login of another tab opens nothing (fixation)", async () => {
    const admin = await start()
    const [mine, other] = [await begin(admin), await begin(admin)]
    const response = (await provider.logIn(other.url, mika)).search.slice(1)
    assert.deepStrictEqual(await refused(finish(admin, mine.binding, response, elsewhere())), rejected)
  })

  it("with a secret that the service did not make, or that has expired, opens nothing", async () => {
    const admin = await start()
    const { binding, url } = await begin(admin)
    const response = (await provider.logIn(url, mika)).search.slice(1)
    const [, random = "", signature = ""] = binding.split(".")
    const later = `${Date.now() + 9_999_999}.${random}.${signature}`
    for (const forged of ["x", `${binding}x`, later, binding.replace(/.$/, (last) => (last === "A" ? "B" : "A"))])
      assert.deepStrictEqual(await refused(finish(admin, forged, response, elsewhere())), stale)
    // Another installation has another key.
    const other = await start({}, { env: { ...env, SVC_ADMIN_PASSWORD: "another" } })
    assert.deepStrictEqual(await refused(finish(other, binding, response, elsewhere())), stale)
    assert.strictEqual((await finish(admin, binding, response, elsewhere())).status, 200)
  })

  it("with a code that was used, another code, another state or none opens nothing", async () => {
    const admin = await start()
    const { binding, url } = await begin(admin)
    const returned = await provider.logIn(url, mika)
    const changed = (change: (query: URLSearchParams) => void) => {
      const query = new URLSearchParams(returned.search)
      change(query)
      return finish(admin, binding, query.toString(), elsewhere())
    }
    assert.deepStrictEqual(await refused(changed((query) => query.set("state", "x"))), rejected)
    assert.deepStrictEqual(await refused(changed((query) => query.delete("state"))), rejected)
    assert.deepStrictEqual(await refused(changed((query) => query.append("state", "x"))), rejected)
    assert.deepStrictEqual(await refused(changed((query) => query.set("code", "x"))), rejected)
    assert.deepStrictEqual(await refused(changed((query) => query.delete("code"))), rejected)
    assert.deepStrictEqual(await refused(finish(admin, binding, "error=access_denied", elsewhere())), rejected)
    assert.strictEqual((await changed(() => {})).status, 200)
    assert.deepStrictEqual(await refused(changed(() => {})), rejected)
  })

  it("with the response of another provider opens nothing (mix-up)", async () => {
    const admin = await start()
    const { binding, url } = await begin(admin)
    const query = new URLSearchParams((await provider.logIn(url, mika)).search)
    assert.strictEqual(query.get("iss"), provider.issuer)
    for (const iss of ["https://evil.test", undefined]) {
      if (iss === undefined) query.delete("iss")
      else query.set("iss", iss)
      assert.deepStrictEqual(await refused(finish(admin, binding, query.toString(), elsewhere())), rejected)
    }
  })

  it("never leads to another page: the address to return to is that of the configuration", async () => {
    const admin = await start()
    const headers = { host: "evil.test", "x-forwarded-host": "evil.test", "x-forwarded-proto": "http" }
    const { body } = await admin.call("POST", "/login/oidc", { headers })
    assert.strictEqual(new URL(String(body["url"])).searchParams.get("redirect_uri"), back)
    const more = { body: { redirect_uri: "https://evil.test" } }
    assert.strictEqual((await admin.call("POST", "/login/oidc", more)).status, 400)
  })

  it("by many responses locks the address, and not that of others", async () => {
    const admin = await start()
    const { binding } = await begin(admin)
    const from = { "x-forwarded-for": "198.51.100.1" }
    const statuses = []
    for (let at = 0; at < 7; at++) statuses.push((await finish(admin, binding, "code=x", from)).status)
    assert.deepStrictEqual(statuses, [401, 401, 401, 401, 401, 429, 429])
    assert.strictEqual((await logIn(admin)).status, 200)
  })

  it.each<readonly [string, (path: string) => { readonly status: number; readonly body: string } | undefined]>([
    ["keys of another", (path) => (path === "/jwks" ? { status: 200, body: JSON.stringify({ keys: [] }) } : undefined)],
    [
      "a token without a signature",
      (path) =>
        path === "/token"
          ? {
              status: 200,
              body: JSON.stringify({ access_token: "a", token_type: "Bearer", id_token: unsigned(provider.issuer) })
            }
          : undefined
    ],
    ["an error", (path) => (path === "/token" ? { status: 400, body: '{"error":"invalid_grant"}' } : undefined)]
  ])("by a provider that sends %s opens nothing", async (_, intercept) => {
    const admin = await start()
    const { binding, url } = await begin(admin)
    const response = (await provider.logIn(url, mika)).search.slice(1)
    provider.intercept = intercept
    assert.deepStrictEqual(await refused(finish(admin, binding, response, elsewhere())), rejected)
  })
})

describe("a provider", () => {
  it("that cannot be reached, or is another one than it claims, gives an error that names it", async () => {
    for (const over of [{ issuer: "http://127.0.0.1:9" }, { issuer: `${provider.issuer}/other` }]) {
      const { body, status } = await (await start(over)).call("POST", "/login/oidc")
      assert.strictEqual(status, 503)
      assert.include(String(body["detail"]), over.issuer)
    }
  })

  it("that is not configured is not offered", async () => {
    const admin = await startAdmin()
    servers.push(admin)
    assert.deepStrictEqual((await admin.call("GET", "/login/methods")).body, { oidc: false })
    assert.strictEqual((await admin.call("POST", "/login/oidc")).status, 404)
    const more = { body: { binding: "x", response: "code=x" } }
    assert.strictEqual((await admin.call("POST", "/login/oidc/finish", more)).status, 404)
  })
})

const unsigned = (iss: string): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const now = Math.floor(Date.now() / 1000)
  return `${part({ alg: "none" })}.${part({ iss, aud: oidcClient.id, sub: "mika", iat: now, exp: now + 60, groups: ["admins"] })}.`
}
