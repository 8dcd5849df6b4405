/** Saved views over the API: of one person, limited, refused to programs and to other people. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
let token: unknown
beforeAll(async () => {
  admin = await startAdmin()
  token = await admin.token()
})
afterAll(() => admin?.stop())

const save = (body: object, as: unknown = token) => admin.call("POST", "/views", { token: as, body })
const list = async (as: unknown = token) => (await admin.call("GET", "/views", { token: as })).body["items"]

it("a view is saved, listed in every session of the person, and deleted", async () => {
  const { body, status } = await save({ page: "/runs", name: " Failed & <b> ", query: "status=failed&q=a%26b" })
  expect([status, body["name"], body["query"]]).toEqual([200, "Failed & <b>", "status=failed&q=a%26b"])
  expect(body).not.toHaveProperty("owner")
  expect(await list(await admin.token())).toEqual([body])
  expect((await admin.call("DELETE", `/views/${String(body["id"])}`, { token })).status).toBe(204)
  expect((await admin.call("DELETE", `/views/${String(body["id"])}`, { token })).status).toBe(404)
  expect(await list()).toEqual([])
})

it.each([
  ["an unknown page", { page: "/tokens", name: "a", query: "" }],
  ["a page elsewhere", { page: "https://evil.test", name: "a", query: "" }],
  ["no name", { page: "/runs", name: "  ", query: "" }],
  ["a long name", { page: "/runs", name: "a".repeat(81), query: "" }],
  ["long filters", { page: "/runs", name: "a", query: "q".repeat(2001) }],
  ["another owner", { page: "/runs", name: "a", query: "", owner: "oidc:dana" }]
])("%s is refused, and nothing is saved", async (_, body) => {
  expect((await save(body)).status).toBe(400)
  expect(await list()).toEqual([])
})

it("a program has none, whatever its role", async () => {
  const created = await admin.call("POST", "/tokens", { token, body: { name: "p", scopes: [], role: "administrator" } })
  const program = created.body["token"]
  for (const [method, path] of [
    ["GET", "/views"],
    ["POST", "/views"],
    ["DELETE", "/views/1"]
  ] as const) {
    const body = method === "POST" ? { page: "/runs", name: "a", query: "" } : undefined
    const reply = await admin.call(method, path, { token: program, ...(body === undefined ? {} : { body }) })
    expect([reply.status, reply.body["code"]]).toEqual([403, "person_needed"])
  }
})

it("the 51st is refused with what to do", async () => {
  for (let at = 0; at < 50; at++) expect((await save({ page: "/queue", name: `v${at}`, query: "" })).status).toBe(200)
  const { body, status } = await save({ page: "/queue", name: "one more", query: "" })
  expect([status, body["code"], body["detail"]]).toEqual([
    409,
    "too_many_views",
    "You have 50 views; delete one first."
  ])
})
