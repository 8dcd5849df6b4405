/** Requests that the administration refuses before a handler runs, over real HTTP. */
import { HttpApi } from "effect/http-api"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { maxBodyBytes } from "../../../src/admin/AdminApi.ts"
import { maxAnonymousBytes } from "../../../src/admin/http/BodyLimit.ts"
import { isCrossOrigin } from "../../../src/admin/http/RequestRules.ts"
import { open } from "../../ingress/Raw.ts"
import { AdminHttpApi } from "../../../src/admin/api/AdminHttpApi.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"
import { listOperations } from "../ApiContract.ts"
import type { Reason } from "../../../src/domain/Reason.ts"
import { inEnglish } from "../../../src/text/en.ts"

let admin: AdminServer
let token: unknown
beforeAll(async () => {
  admin = await startAdmin()
  token = await admin.token()
})
afterAll(() => admin.stop())

const issuesOf = (body: Record<string, unknown>): ReadonlyArray<{ path: string; message: string; reason: Reason }> =>
  Array.isArray(body["issues"]) ? body["issues"] : []

describe("query parameters", () => {
  it.each([
    ["/nodes?all=true", "all", "unknown parameter (there are none)"],
    [
      "/runs?stauts=failed",
      "stauts",
      "unknown parameter (there are: workspace, q, status, target, repo, number, trigger, since, until, sort, cursor, limit)"
    ],
    ["/runs?sort=findings", "sort", "expected one of created, -created, duration, -duration, cost, -cost"],
    [
      "/runs?sort=-cost&status=failed",
      "sort",
      "expected created or -created together with status; cost can be combined with workspace"
    ],
    ["/runs?sort=duration&cursor=some", "cursor", "expected `next_cursor` of the previous page, in the same order"],
    [
      "/runs?sort=duration&cursor=many~some",
      "cursor",
      "expected `next_cursor` of the previous page, in the same order"
    ],
    ["/projects?sort=last_run&cursor=a~b", "cursor", "expected `next_cursor` of the previous page, in the same order"],
    ["/changes?sort=title", "sort", "expected one of created, -created"],
    ["/events?sort=sender", "sort", "expected one of received, -received"],
    ["/projects?sort=cost", "sort", "expected one of created, -created, last_run, -last_run, repository, -repository"],
    ["/queue?sort=why", "sort", "expected one of admitted, -admitted"],
    ["/chat/requests?sort=sender", "sort", "expected one of received, -received"],
    ["/audit?sort=actor", "sort", "expected one of at, -at"],
    ["/runs?limit=5&limit=6", "limit", "given more than once"],
    ["/runs?limit=1e2", "limit", "expected 1 to 200"],
    ["/runs?limit=201", "limit", "expected 1 to 200"],
    ["/events?since=yesterday", "since", "expected a time in ISO 8601, such as 2026-03-04T12:00:00Z"],
    ["/events?decision=maybe", "decision", "expected one of queued, deferred, coalesced, duplicate, ignored, rejected"],
    ["/story?number=1", "repo", "missing"],
    ["/story?repo=a/b&number=0", "number", "expected a positive integer"]
  ])("%s is refused with its name", async (path, name, message) => {
    const { body, status } = await admin.call("GET", path, { token })
    const shown = issuesOf(body).map((issue) => ({ path: issue.path, message: issue.message }))
    assert.deepStrictEqual([status, body["code"], shown], [400, "invalid_payload", [{ path: name, message }]])
    assert.deepStrictEqual(
      issuesOf(body).map(({ reason }) => inEnglish(reason)),
      [message]
    )
  })

  it("every wrong parameter is named", async () => {
    const { body } = await admin.call("GET", "/runs?limit=0&status=no", { token })
    assert.sameMembers(
      (Array.isArray(body["issues"]) ? body["issues"] : []).map((issue) => Object(issue).path),
      ["limit", "status"]
    )
  })

  it("an empty parameter counts as missing", async () => {
    assert.strictEqual((await admin.call("GET", "/runs?status=&limit=", { token })).status, 200)
  })
})

describe("bodies", () => {
  const pause = (body: unknown, headers: Record<string, string> = {}) =>
    admin.call("POST", "/queue/pause", { token, body, headers })
  const nested = (levels: number) => `{"workspace":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`

  it.each([
    ["an unknown field", { workspace: "app", more: 1 }, "invalid_payload", "more", "unknown field"],
    ["neither field", { reason: "x" }, "invalid_payload", "", "expected either workspace or node"],
    ["half a character in a text", { workspace: "app", reason: "\ud800" }, "invalid_payload", "reason", undefined],
    ["an array", [], "invalid_payload", "", "expected an object"]
  ])("with %s are refused", async (_, given, code, path, message) => {
    const { body, status } = await pause(given)
    assert.deepStrictEqual([status, body["code"]], [400, code])
    const [issue] = Array.isArray(body["issues"]) ? body["issues"] : []
    assert.deepInclude(issue, message === undefined ? { path } : { path, message })
  })

  it("nested deeper than 64 levels are refused before they are parsed", async () => {
    const deep = await pause(nested(65))
    assert.deepStrictEqual([deep.status, deep.body["code"]], [400, "invalid_json"])
    assert.include(deep.body["detail"], "64")
    const { body } = await pause(nested(64))
    assert.deepStrictEqual(body["code"], "invalid_payload")
  })

  it("of another type than JSON are refused", async () => {
    const { body, status } = await pause("workspace=app", { "content-type": "application/x-www-form-urlencoded" })
    assert.deepStrictEqual([status, body["code"]], [415, "unsupported_media_type"])
  })

  it("of endpoints without a body are refused", async () => {
    const { body, status } = await admin.call("POST", "/runs/x/cancel", { token, body: { reason: "why" } })
    assert.deepStrictEqual([status, body["detail"]], [400, "expected no body"])
  })
})

describe("every endpoint that writes", () => {
  const listWrites = async () => {
    const document: unknown = await (await fetch(`${admin.url}/api/openapi.json`)).json()
    const writes = listOperations(document).filter(({ method }) => method !== "GET")
    assert.isAbove(writes.length, 25)
    return writes.map(({ description, method, path }) => ({
      method,
      path: path.replaceAll(/\{\w+\}/g, "1"),
      takesBody: "requestBody" in description
    }))
  }

  it("refuses a body of more than 1 MiB before it is read", async () => {
    for (const { method, path } of await listWrites()) {
      const { answer, socket } = open(Number(new URL(admin.url).port))
      const fields = ["host: localhost", `authorization: Bearer ${String(token)}`, "content-type: application/json"]
      socket.write(
        [`${method} ${path} HTTP/1.1`, ...fields, `content-length: ${maxBodyBytes + 1}`, "", ""].join("\r\n")
      )
      const response = await answer
      socket.destroy()
      const limit = path === "/api/admin/login" ? maxAnonymousBytes : maxBodyBytes
      const { code, detail } = JSON.parse(response?.body ?? "{}")
      const expected = [413, "body_too_large", `The body may have at most ${limit} bytes.`]
      assert.deepStrictEqual([response?.status, code, detail], expected, `${method} ${path}`)
    }
  })

  it("refuses a body with more than 64 levels, or any body if it has none", async () => {
    const deep = `{"value":${"[".repeat(64)}${"]".repeat(64)}}`
    for (const { method, path, takesBody } of await listWrites()) {
      const { body, status } = await admin.call(method, path.replace("/api/admin", ""), { token, body: deep })
      const expected = takesBody
        ? [400, "invalid_json", "The body nests objects and arrays deeper than 64 levels."]
        : [400, "invalid_payload", "expected no body"]
      assert.deepStrictEqual([status, body["code"], body["detail"]], expected, `${method} ${path}`)
    }
  })
})

describe("writes of browsers", () => {
  it.each([
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ origin: "https://evil.test" }, 403],
    [{ origin: "null" }, 403],
    // Allowed; this workspace does not exist.
    [{ "sec-fetch-site": "same-origin", origin: "https://behind-a-proxy.test" }, 404]
  ])("with the headers %j get %d", async (headers, expected) => {
    const { status } = await admin.call("POST", "/queue/pause", { token, body: { workspace: "nothing" }, headers })
    assert.strictEqual(status, expected)
  })

  it("of another site are refused at every endpoint that writes", async () => {
    const writes: Array<readonly [method: string, path: string]> = []
    HttpApi.reflect(AdminHttpApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint }) => {
        if (endpoint.method !== "GET") writes.push([endpoint.method, endpoint.path.replace("/api/admin", "")])
      }
    })
    assert.isAbove(writes.length, 20)
    for (const [method, path] of writes) {
      const { body, status } = await admin.call(method, path.replaceAll(/:\w+/g, "x"), {
        token,
        headers: { "sec-fetch-site": "cross-site" }
      })
      assert.deepStrictEqual([path, status, body["code"]], [path, 403, "cross_origin"])
    }
  })

  it("of another site are also refused at the login", async () => {
    const { body, status } = await admin.login(undefined, undefined, { "sec-fetch-site": "cross-site" })
    assert.deepStrictEqual([status, body["code"]], [403, "cross_origin"])
  })

  it("reads of another site are left to the browser", async () => {
    const headers = { "sec-fetch-site": "cross-site" }
    assert.strictEqual((await admin.call("GET", "/nodes", { token, headers })).status, 200)
  })
})

it.each([
  [{}, false],
  [{ origin: "http://a.test:8080", host: "a.test:8080" }, false],
  [{ origin: "http://a.test:8080", host: "a.test" }, true],
  [{ origin: "http://A.test", host: "a.TEST" }, false],
  [{ "sec-fetch-site": "none" }, false],
  [{ "sec-fetch-site": "cross-site", origin: "http://a.test", host: "a.test" }, true]
])("the headers %j come from another site: %s", (headers, expected) => {
  assert.strictEqual(isCrossOrigin({ headers }), expected)
})
