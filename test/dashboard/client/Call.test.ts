/** Requests of the typed client, as they reach the service. */
import { join } from "node:path"
import { HttpApi } from "effect/http-api"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { AdminHttpApi } from "../../../src/admin/api/AdminHttpApi.ts"
import { findMethods } from "../../../src/admin/http/RouteTable.ts"

type ToRequest = (
  endpoint: string,
  input: { readonly params?: unknown; readonly query?: unknown }
) => readonly [string, string]

// The module is for browsers, whose types this program does not have.
const file = join(import.meta.dirname, "../../../src/dashboard/client/Call.ts")
let toRequest: ToRequest
beforeAll(async () => {
  vi.stubGlobal("document", { querySelector: () => null })
  vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => {}, removeItem: () => {} })
  ;({ toRequest } = (await import(file)) as { readonly toRequest: ToRequest })
})
afterAll(() => vi.unstubAllGlobals())

const listNames = (): ReadonlyArray<string> => {
  const names: Array<string> = []
  HttpApi.reflect(AdminHttpApi, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => names.push(`${endpoint.method} ${endpoint.path.replace("/api/admin", "")}`)
  })
  return names
}

describe("a request of the typed client", () => {
  it("reaches its endpoint, whatever its parameters contain", () => {
    for (const name of listNames()) {
      const names = [...name.matchAll(/:(\w+)/g)].map(([, parameter = ""]) => [parameter, "a/b ?#%"])
      const [method, url] = toRequest(name, { params: Object.fromEntries(names) })
      expect(url).not.toContain(":")
      expect(findMethods(url)).toContain(method)
    }
  })

  it("has the parameters of its query that are given", () => {
    const query = { status: "failed", workspace: undefined, cursor: "", limit: 5, repo: "a/b&c" }
    expect(toRequest("GET /runs", { query })).toEqual(["GET", "/api/admin/runs?status=failed&limit=5&repo=a%2Fb%26c"])
  })
})
