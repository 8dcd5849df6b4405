/** The description of the administration: as a document for programs and as a page for people. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"
import { ApiContract, listOperations, nodeAt } from "../ApiContract.ts"

let admin: AdminServer
let prefixed: AdminServer
let document: unknown
beforeAll(async () => {
  admin = await startAdmin()
  prefixed = await startAdmin({ document: { server: { path_prefix: "/aicr" } } })
  document = await (await fetch(`${admin.url}/api/openapi.json`)).json()
})
afterAll(async () => {
  await admin.stop()
  await prefixed.stop()
})

const opening = /^\/api\/admin\/login(?:$|\/redeem$|\/methods$|\/oidc)/

/** Routes that offer a login, or begin one; neither has credentials to refuse. */
const offers = /\/login\/(?:methods|oidc)$/

/** Public keys, for anyone. */
const keysPath = "/api/admin/verdicts/key"

describe("the OpenAPI document", () => {
  it("lists the endpoints of the administration", () => {
    const names = listOperations(document).map(({ method, path }) => `${method} ${path}`)
    assert.includeMembers(names, ["POST /api/admin/login", "GET /api/admin/runs/{id}", "POST /api/admin/queue/pause"])
  })

  it("describes each endpoint, each parameter and each error", () => {
    for (const { description, method, path } of listOperations(document)) {
      const name = `${method} ${path}`
      const { description: text, parameters, summary } = description
      assert.isAbove(String(summary ?? "").length, 5, name)
      assert.isAbove(String(text ?? "").length, 10, name)
      assert(Array.isArray(parameters))
      for (const parameter of parameters) {
        assert.isAbove(
          String(nodeAt(parameter, "schema")["description"] ?? "").length,
          1,
          `${name} ${JSON.stringify(parameter)}`
        )
      }
      const isPublic = path === keysPath || offers.test(path)
      const errors = ["400", "403", "413", "415", ...(path === keysPath ? ["503"] : ["404"])]
      if (!isPublic) errors.push("401", "503")
      assert.includeMembers(Object.keys(nodeAt(description, "responses")), errors, name)
    }
  })

  it("requires a session for each endpoint except for those that open one, and for public keys", () => {
    for (const { description, path } of listOperations(document)) {
      const opens = path === keysPath || opening.test(path)
      const expected = opens ? [] : [{ session: [] }]
      assert.deepStrictEqual(description["security"], expected, path)
    }
  })

  it("names the path prefix of the service", async () => {
    const served: unknown = await (await fetch(`${prefixed.url}/api/openapi.json`)).json()
    assert.deepInclude(served, { servers: [{ url: "/aicr" }] })
    assert.notProperty(document, "servers")
  })
})

describe("the page", () => {
  it("lists the endpoints without scripts and without anything from other servers", async () => {
    const response = await fetch(`${prefixed.url}/api/docs`)
    const html = await response.text()
    assert.strictEqual(response.status, 200)
    assert.match(response.headers.get("content-type") ?? "", /^text\/html/)
    assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/)
    assert.include(html, "<code>/aicr/api/admin/queue/{id}/cancel</code>")
    assert.include(html, "Key of the pull request, branch or issue")
    assert.notMatch(html, /<script|<link|<img|https?:\/\//)
  })
})

describe("the check of responses", () => {
  const response = { method: "GET", path: "/api/admin/nodes", status: 200, contentType: "application/json" }
  const contract = () => new ApiContract(document)

  it.each([
    ["a field that is not described", { ...response, text: '{"items":[],"more":1}' }, /additional properties/],
    ["a missing field", { ...response, text: "{}" }, /required property/],
    ["a status that is not described", { ...response, status: 418, text: "{}" }, /418 is not described/],
    ["a content type that is not described", { ...response, contentType: "text/plain", text: "x" }, /text\/plain/]
  ])("reports %s", (_, given, expected) => {
    assert.throws(() => contract().check(given), expected)
  })
})
