/** The check itself reports a request that strays from a host's description. */
import { describe, expect, it } from "vitest"
import { openApi } from "./OpenApi.ts"

const check = openApi("gitea")
const query = new URLSearchParams()
const review = (body: unknown) => check({ method: "POST", path: "/repos/o/r/pulls/1/reviews", query, body })

describe("the check against API descriptions", () => {
  it.each<readonly [string, unknown]>([
    ["an unknown key", { body: "b", boddy: "b" }],
    ["an unknown key deep inside", { comments: [{ path: "a", line_no: 3 }] }],
    ["a wrong type", { comments: [{ path: "a", new_position: "3" }] }],
    ["an unknown event", { event: "COMMENTED" }],
    ["no body", undefined]
  ])("sees %s", (_, body) => {
    expect(review(body)).not.toEqual([])
  })

  it("takes what is described", () => {
    const comments = [{ path: "a", body: "b", new_position: 3, old_position: 0 }]
    expect(review({ event: "COMMENT", commit_id: "c", body: "b", comments })).toEqual([])
  })

  it("sees paths, numbers and queries that are not there", () => {
    const get = (path: string, search = "") =>
      check({ method: "GET", path, query: new URLSearchParams(search), body: undefined })
    expect(get("/repos/o/r/pulls/1/reviews", "page=1&limit=2")).toEqual([])
    expect(get("/repos/o/r/pulls/1/reviews", "per_page=2")).not.toEqual([])
    expect(get("/repos/o/r/pulls/one")).not.toEqual([])
    expect(get("/nowhere")).not.toEqual([])
  })

  it.each(["gitea", "forgejo", "github", "gitlab"] as const)("loads the description of %s", (host) => {
    const loaded = openApi(host)
    expect(loaded({ method: "GET", path: "/user", query, body: undefined })).toEqual([])
  })
})
