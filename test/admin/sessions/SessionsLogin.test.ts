/** Login, its duration and its limits, over real HTTP. */
import { createHash } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { afterEach, assert, describe, it } from "vitest"
import { readAdminCredentials } from "../../../src/admin/AdminCredentials.ts"
import { openLink } from "../../../src/admin/sessions/Sessions.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { delayMillis } from "../../../src/admin/sessions/SessionHandlers.ts"
import * as SqliteClient from "../../../src/database/sqlite/SqliteClient.ts"
import { layer as recordsOver } from "../../../src/store/StoreLayer.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { freshDatabase, postgresAt } from "../../store/Databases.ts"
import { password, startAdmin } from "../AdminServer.ts"
import type { AdminServer, AdminSettings } from "../AdminServer.ts"

const servers: Array<AdminServer> = []
const start = async (settings?: AdminSettings) => {
  const server = await startAdmin(settings)
  servers.push(server)
  return server
}
const folders: Array<string> = []
const temporary = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "aicr-login-"))
  folders.push(folder)
  return folder
}
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Opens a link as the local socket does. */
const openLinkOf = async (admin: AdminServer, seconds: number): Promise<string> => {
  const env = { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: password }
  const credentials = readAdminCredentials(await Effect.runPromise(toSnapshot({ allow_empty: true }, env)))
  if (credentials === undefined) throw new Error("no credentials")
  return (await admin.run(openLink(credentials, seconds))).token
}

describe("a login link", () => {
  const redeem = (admin: AdminServer, link: string) => admin.call("POST", "/login/redeem", { body: { link } })

  it("opens one session, which is recorded, for one of several callers", async () => {
    const admin = await start()
    const link = await openLinkOf(admin, 60)
    const replies = await Promise.all([redeem(admin, link), redeem(admin, link), redeem(admin, link)])
    assert.deepStrictEqual(replies.map(({ status }) => status).toSorted(), [200, 401, 401])
    const { token, username } = replies.find(({ status }) => status === 200)?.body ?? {}
    assert.strictEqual(username, "root")
    const { body } = await admin.call("GET", "/audit", { token })
    assert.deepInclude(Object(body["items"])[0], { action: "login.redeem", actor: "root", outcome: "done" })
    assert.notInclude(JSON.stringify(body) + admin.logged.join(""), link)
  })

  it("that has expired, was revoked or is not one opens nothing", async () => {
    const admin = await start()
    const token = await admin.token()
    const [expired, revoked] = [await openLinkOf(admin, 0), await openLinkOf(admin, 60)]
    await admin.call("POST", "/sessions/revoke", { token, body: { keep_current: true } })
    for (const link of [expired, revoked, String(token), "0".repeat(64), "x' OR 1=1"])
      assert.include((await redeem(admin, link)).body, { status: 401, code: "invalid_link" })
    // A login link is not the token of a session.
    const good = await openLinkOf(admin, 60)
    assert.strictEqual((await admin.call("GET", "/nodes", { token: good })).status, 401)
  })

  it("is not made for callers over the network", async () => {
    const admin = await start()
    const reply = await admin.call("POST", "/login/link", { token: await admin.token() })
    assert.include(reply.body, { status: 403, code: "local_only" })
  })
})

describe("login", () => {
  it("gives a token that opens the rest until the logout", async () => {
    const admin = await start()
    const before = Date.now()
    const { body, headers, status } = await admin.login()
    assert.strictEqual(status, 200)
    assert.strictEqual(headers.get("cache-control"), "no-store")
    assert.match(String(body["token"]), /^[0-9a-f]{64}$/)
    const lasts = Date.parse(String(body["expires_at"])) - before
    assert.isAtLeast(lasts, 86_400_000 - 1)
    assert.isAtMost(lasts, 86_410_000)
    const { token } = body
    assert.strictEqual((await admin.call("GET", "/nodes", { token })).status, 200)
    assert.strictEqual((await admin.call("POST", "/logout", { token })).status, 204)
    assert.strictEqual((await admin.call("GET", "/nodes", { token })).status, 401)
  })

  it.each([
    ["no token", undefined],
    ["a token that nobody got", "0".repeat(64)],
    ["no token at all", "x' OR 1=1"]
  ])("%s opens nothing, and does not tell which paths there are", async (_, token) => {
    const admin = await start()
    await admin.login()
    const answers = await Promise.all(
      [["GET", "/runs"] as const, ["GET", "/nothing"] as const, ["POST", "/batches/x/retry"] as const].map(
        ([method, path]) => admin.call(method, path, { token })
      )
    )
    for (const { body, headers, status } of answers) {
      assert.strictEqual(status, 401)
      assert.strictEqual(body["code"], "unauthorized")
      assert.match(headers.get("www-authenticate") ?? "", /^Bearer/)
      assert.strictEqual(headers.get("content-type"), "application/problem+json")
    }
  })

  it("ends by itself", async () => {
    const admin = await start({ document: { admin: { session_ttl_seconds: 1 } } })
    const token = await admin.token()
    assert.strictEqual((await admin.call("GET", "/nodes", { token })).status, 200)
    await waitUntil(async () => (await admin.call("GET", "/nodes", { token })).status === 401, {
      describe: () => "the session ends"
    })
  })

  it("takes the hash of a password, and nothing but it", async () => {
    const env = { SVC_ADMIN_USERNAME: "root", HASH: `sha256:${sha256(password)}`, SVC_ADMIN_PASSWORD: "other" }
    const admin = await start({ env, document: { admin: { password_hash_env: "HASH" } } })
    assert.strictEqual((await admin.login()).status, 200)
    assert.strictEqual((await admin.login("other")).status, 401)
  })

  it.each<readonly [string, Record<string, string>, object]>([
    ["no variable", {}, {}],
    ["no password", { SVC_ADMIN_USERNAME: "root" }, {}],
    ["no user name", { SVC_ADMIN_PASSWORD: password }, {}],
    [
      "a hash that is none",
      { SVC_ADMIN_USERNAME: "root", HASH: "sha256:12", SVC_ADMIN_PASSWORD: password },
      { password_hash_env: "HASH" }
    ]
  ])("with %s everything is 404 with a hint", async (_, env, admin) => {
    const server = await start({ env, document: { admin } })
    for (const path of ["/login", "/runs", "/nothing"]) {
      const { body, status } = await server.call("POST", path, { body: { username: "root", password } })
      assert.strictEqual(status, 404)
      assert.match(String(body["detail"]), /set SVC_ADMIN_USERNAME and (HASH|SVC_ADMIN_PASSWORD)/)
    }
  })

  it("keeps of the token, the password and what was typed as a user name nothing that can be used", async () => {
    const client = SqliteClient.layer({ path: ":memory:" })
    const records = Layer.provideMerge(recordsOver("auto"), client)
    const admin = await start({ records })
    const token = String(await admin.token())
    const wrong = await admin.login(`${password}!`, "my-secret-typed-as-name")
    const rows = await admin.run(
      Effect.gen(function* () {
        const sql = yield* Effect.serviceOption(SqlClient.SqlClient)
        assert(sql._tag === "Some")
        return JSON.stringify([
          yield* sql.value`SELECT * FROM admin_sessions`,
          yield* sql.value`SELECT * FROM login_attempts`
        ])
      })
    )
    assert.match(rows, /"digest":"[0-9a-f]{64}"/)
    for (const secret of [token, sha256(token), password, sha256(password), "my-secret-typed-as-name"]) {
      assert.notInclude(rows, secret)
      assert.notInclude(wrong.text, secret)
      assert.notInclude(admin.logged.join("\n"), secret)
    }
  })

  it.each<readonly [string, unknown, number, string]>([
    ["no JSON", "{", 400, "invalid_json"],
    ["no object", [], 400, "invalid_payload"],
    ["no password", { username: "root" }, 400, "invalid_payload"],
    ["a number", { username: "root", password: 7 }, 400, "invalid_payload"],
    ["half a character", { username: "\ud800", password }, 400, "invalid_payload"],
    ["a very long name", { username: "x".repeat(2000), password }, 400, "invalid_payload"],
    ["too much", { username: "root", password, more: "x".repeat(1024 * 1024) }, 413, "body_too_large"]
  ])("refuses %s", async (_, body, status, code) => {
    const admin = await start()
    const answer = await admin.call("POST", "/login", { body })
    assert.deepStrictEqual([answer.status, answer.body["code"]], [status, code])
    assert.notInclude(answer.text, password)
  })
})

describe("sessions", () => {
  it.each([
    ["another password", { SVC_ADMIN_PASSWORD: "another" }],
    ["another user name", { SVC_ADMIN_USERNAME: "other" }],
    ["the hash of another password", { HASH: `sha256:${sha256("another")}` }]
  ])("end with %s", async (_, changed) => {
    const records = recordsOver("auto").pipe(
      Layer.provideMerge(SqliteClient.layer({ path: join(await temporary(), "records.db") }))
    )
    const before = { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: password, HASH: `sha256:${sha256(password)}` }
    const hashed = "HASH" in changed ? { admin: { password_hash_env: "HASH" } } : {}
    const one = await start({ records, env: before, document: hashed })
    const token = await one.token()
    const same = await start({ records, env: before, document: hashed })
    assert.strictEqual((await same.call("GET", "/nodes", { token })).status, 200)
    const two = await start({ records, env: { ...before, ...changed }, document: hashed })
    assert.strictEqual((await two.call("GET", "/nodes", { token })).status, 401)
  })

  it("are revoked, all but the caller's or all", async () => {
    const admin = await start()
    const [mine, stolen] = [await admin.token(), await admin.token()]
    const opens = async (token: unknown) => (await admin.call("GET", "/nodes", { token })).status
    const others = await admin.call("POST", "/sessions/revoke", { token: mine, body: { keep_current: true } })
    assert.deepStrictEqual([others.status, others.body], [200, { revoked: 1 }])
    assert.deepStrictEqual([await opens(mine), await opens(stolen)], [200, 401])
    const all = await admin.call("POST", "/sessions/revoke", { token: mine })
    assert.deepStrictEqual([all.status, all.body], [200, { revoked: 1 }])
    assert.strictEqual(await opens(mine), 401)
    assert.include(admin.logged.join("\n"), "sessions of administrators revoked")
  })

  it("are not revoked by an invalid request, or without a session", async () => {
    const admin = await start()
    const token = await admin.token()
    for (const body of [{ keep_current: "yes" }, { keep: true }, [], "{"]) {
      assert.strictEqual((await admin.call("POST", "/sessions/revoke", { token, body })).status, 400)
    }
    assert.strictEqual((await admin.call("POST", "/sessions/revoke")).status, 401)
    assert.strictEqual((await admin.call("GET", "/sessions/revoke", { token })).status, 405)
    assert.strictEqual((await admin.call("GET", "/nodes", { token })).status, 200)
  })
})

describe("throttle", () => {
  const fail = async (admin: AdminServer, times: number, name = "root", headers = {}) => {
    for (let at = 0; at < times; at++) assert.strictEqual((await admin.login("wrong", name, headers)).status, 401)
  }

  it("after five failures the right password is refused too, and the response names the wait", async () => {
    const admin = await start()
    await fail(admin, 3)
    assert.strictEqual((await admin.login()).status, 200)
    await fail(admin, 2)
    const { body, headers, status } = await admin.login()
    assert.deepStrictEqual([status, body["code"]], [429, "login_throttled"])
    const seconds = Number(headers.get("retry-after"))
    assert.isAbove(seconds, 290)
    assert.isAtMost(seconds, 300)
  })

  it("concurrent attempts get no more tries than sequential ones", async () => {
    const admin = await start()
    const answers = await Promise.all(Array.from({ length: 30 }, () => admin.login("wrong")))
    assert.strictEqual(answers.filter(({ status }) => status === 401).length, 5)
    assert.strictEqual(answers.filter(({ status }) => status === 429).length, 25)
  })

  it.each(["loopback", true])("locks the address that a trusted proxy names, with trust_proxy: %s", async (trust) => {
    const admin = await start({ document: { server: { trust_proxy: trust } } })
    const from = (address: string) => ({ "x-forwarded-for": `6.6.6.6, ${address}` })
    await fail(admin, 5, "somebody", from("203.0.113.1"))
    assert.strictEqual((await admin.login(password, "root", from("203.0.113.1"))).status, 429)
    assert.strictEqual((await admin.login(password, "root", from("203.0.113.2"))).status, 200)
  })

  it("an address that a client makes up neither escapes the lock nor locks others out", async () => {
    const admin = await start({ document: { server: { trust_proxy: true } } })
    const from = (spoofed: string) => ({ "x-forwarded-for": `${spoofed}, 203.0.113.1` })
    for (let at = 0; at < 5; at++) await fail(admin, 1, `user-${at}`, from(`198.51.100.${at}`))
    assert.strictEqual((await admin.login("wrong", "user-9", from("198.51.100.9"))).status, 429)
    assert.strictEqual((await admin.login(password, "root", { "x-forwarded-for": "198.51.100.1" })).status, 200)
  })

  it("wrong passwords for the administrator from other addresses delay the right one and do not lock it out", async () => {
    const admin = await start({ document: { server: { trust_proxy: "loopback" } } })
    for (let at = 0; at < 5; at++) await fail(admin, 1, "root", { "x-forwarded-for": `203.0.113.${at}` })
    const startedAt = performance.now()
    assert.strictEqual((await admin.login(password, "root", { "x-forwarded-for": "203.0.113.9" })).status, 200)
    assert.isAtLeast(performance.now() - startedAt, 490)
    assert.deepStrictEqual([0, 4, 5, 6, 9, 100, 20_000].map(delayMillis), [0, 0, 500, 1000, 8000, 8000, 8000])
  })

  it("ignores forwarded addresses of clients that are not proxies", async () => {
    const admin = await start()
    for (let at = 0; at < 5; at++) await fail(admin, 1, `user-${at}`, { "x-forwarded-for": `203.0.113.${at}` })
    assert.strictEqual((await admin.login(password, "root", { "x-forwarded-for": "203.0.113.9" })).status, 429)
  })

  it("is shared by the servers on one Postgres, as the sessions are", async () => {
    const url = await freshDatabase()
    const [one, two] = [await start({ records: postgresAt(url) }), await start({ records: postgresAt(url) })]
    const token = await one.token()
    assert.strictEqual((await two.call("GET", "/nodes", { token })).status, 200)
    assert.strictEqual((await two.call("POST", "/logout", { token })).status, 204)
    assert.strictEqual((await one.call("GET", "/nodes", { token })).status, 401)

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? one : two).login("wrong", `user-${at}`))
    )
    assert.strictEqual(answers.filter(({ status }) => status === 401).length, 5)
    assert.strictEqual((await two.login()).status, 429)
  })
})
