/** Bodies of callers without a session, over real connections. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { maxAnonymousBytes } from "../../../src/admin/http/BodyLimit.ts"
import { makeDescription } from "../../../src/admin/http/Description.ts"
import { open, post } from "../../ingress/Raw.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
beforeAll(async () => {
  admin = await startAdmin()
})
afterAll(() => admin.stop())

/** Sends the header of a request, and nothing of its body. */
const sendHead = async (path: string, headers: Record<string, string | number>) => {
  const connection = open(Number(new URL(admin.url).port))
  connection.socket.write(post(`/api/admin${path}`, { "content-type": "application/json", ...headers }))
  const answer = await connection.answer
  connection.socket.destroy()
  return { status: answer?.status, code: JSON.parse(answer?.body ?? "{}").code, received: connection.received() }
}

describe("without a session", () => {
  it.each([
    ["declared", { "content-length": maxAnonymousBytes + 1 }],
    ["in chunks", { "transfer-encoding": "chunked" }],
    ["after an expectation", { "content-length": maxAnonymousBytes + 1, expect: "100-continue" }],
    ["with a token that nobody got", { "content-length": 1_000_000, authorization: `Bearer ${"0".repeat(64)}` }]
  ])("a large body %s is refused before it is read", async (_, headers) => {
    const { code, received, status } = await sendHead("/config/changesets", headers)
    assert.deepStrictEqual([status, code], [401, "unauthorized"])
    assert.match(received, /connection: close/i)
    assert.notInclude(received, "100 Continue")
  })

  it("a login has room for names and passwords, and for no more", async () => {
    assert.strictEqual((await sendHead("/login", { "content-length": maxAnonymousBytes + 1 })).status, 413)
    const long = await admin.call("POST", "/login", { body: { username: "root", password: "x".repeat(15_000) } })
    assert.strictEqual(long.status, 400)
    const keys = Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`k${at}`, at]))
    const { body, status } = await admin.call("POST", "/login", { body: keys })
    assert.deepStrictEqual([status, body["code"]], [413, "body_too_large"])
  })
})

it("with a session a body may have a megabyte", async () => {
  const token = await admin.token()
  const body = { workspace: "app", reason: "x".repeat(500_000) }
  const { body: problem, status } = await admin.call("POST", "/queue/pause", { token, body })
  assert.deepStrictEqual([status, problem["code"]], [400, "invalid_payload"])
})

it("the description is rendered once", () => {
  const { docs, openApi } = makeDescription()
  assert.strictEqual(docs("/a"), docs("/a"))
  assert.strictEqual(openApi("/a"), openApi("/a"))
  assert.include(openApi("/b").body, '"/b"')
})
