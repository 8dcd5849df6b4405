/** The check itself reports a request that strays from a host's description. */
import { describe, expect, it } from "vitest"
import { hasContracts } from "./Contracts.ts"
import { checkAgainst, openApi } from "./OpenApi.ts"

const integer = (name: string, where: string) => ({
  name,
  in: where,
  ...(where === "path" ? { required: true } : {}),
  schema: { type: "integer" }
})
const text = (name: string) => ({ name, in: "path", required: true, schema: { type: "string" } })

/** Two operations in the form of OpenAPI 3, with a body that refers to another schema. */
const described = {
  paths: {
    "/repos/{owner}/{repo}/pulls/{index}": {
      parameters: [text("owner"), text("repo"), integer("index", "path")],
      get: {}
    },
    "/repos/{owner}/{repo}/pulls/{index}/reviews": {
      parameters: [text("owner"), text("repo"), integer("index", "path")],
      get: { parameters: [integer("page", "query"), integer("limit", "query")] },
      post: {
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Review" } } }
        }
      }
    }
  },
  components: {
    schemas: {
      Review: {
        type: "object",
        properties: {
          event: { type: "string", enum: ["APPROVED", "COMMENT"] },
          body: { type: "string", nullable: true },
          comments: { type: "array", items: { $ref: "#/components/schemas/Comment" } }
        }
      },
      Comment: { type: "object", properties: { path: { type: "string" }, new_position: { type: "integer" } } }
    }
  }
}

const check = checkAgainst("host", described)
const query = new URLSearchParams()
const review = (body: unknown) => check({ method: "POST", path: "/repos/o/r/pulls/1/reviews", query, body })

describe("the check against API descriptions", () => {
  it.each<readonly [string, unknown]>([
    ["an unknown key", { body: "b", boddy: "b" }],
    ["an unknown key in a schema that is referred to", { comments: [{ path: "a", line_no: 3 }] }],
    ["a wrong type", { comments: [{ path: "a", new_position: "3" }] }],
    ["an unknown event", { event: "COMMENTED" }],
    ["a missing body", undefined]
  ])("reports %s", (_, body) => {
    expect(review(body)).not.toEqual([])
  })

  it("accepts what is described", () => {
    expect(review({ event: "COMMENT", body: null, comments: [{ path: "a", new_position: 3 }] })).toEqual([])
  })

  it("reports unknown paths, numbers and query parameters", () => {
    const get = (path: string, search = "") =>
      check({ method: "GET", path, query: new URLSearchParams(search), body: undefined })
    expect(get("/repos/o/r/pulls/1/reviews", "page=1&limit=2")).toEqual([])
    expect(get("/repos/o/r/pulls/1/reviews", "per_page=2")).not.toEqual([])
    expect(get("/repos/o/r/pulls/one")).not.toEqual([])
    expect(get("/nowhere")).not.toEqual([])
  })

  it.each(hasContracts ? (["gitea", "forgejo", "github", "gitlab"] as const) : [])(
    "loads the published description of %s",
    (host) => {
      expect(openApi(host)?.({ method: "GET", path: "/user", query, body: undefined })).toEqual([])
      expect(openApi(host)?.({ method: "GET", path: "/nowhere", query, body: undefined })).not.toEqual([])
    }
  )
})
