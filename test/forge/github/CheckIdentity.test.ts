/** Deliveries about checks: the button that repeats a check of the service requests a review, and nothing else about a check starts anything. */
import { describe, expect, it } from "vitest"
import { readNumber, toExternalId } from "../../../src/forge/github/CheckIdentity.ts"
import { mayStart, webhook } from "../../../src/forge/github/Webhook.ts"

const repository = { id: 5, full_name: "team/shop", html_url: "https://host.test/team/shop" }
const toPull = (number: number, repositoryId = 5) => ({
  number,
  head: { sha: "a1".repeat(20), ref: "change" },
  base: { ref: "main", sha: "b2".repeat(20), repo: { id: repositoryId } }
})

const parse = (event: string, action: string, fields: object) => {
  const payload = { action, repository, sender: { login: "dana" }, ...fields }
  const parsed = webhook.parse({ "x-github-event": event }, new TextEncoder().encode(JSON.stringify(payload)))
  if (parsed._tag !== "Event") throw new Error(JSON.stringify(parsed))
  return parsed.event
}
const check = { name: "aicr/review", head_sha: "a1".repeat(20), external_id: "7:op", pull_requests: [toPull(7)] }

describe("readNumber", () => {
  it("returns the pull request of a check of the service", () => {
    expect(readNumber("aicr/review", toExternalId({ key: "op", number: 7 }))).toBe(7)
    expect(readNumber("aicr/review", toExternalId({ key: "op", number: undefined }))).toBeUndefined()
    expect(readNumber("lint", "7:op")).toBeUndefined()
    for (const id of [undefined, "", "7", "x7:op", "12345678901:op"])
      expect(readNumber("aicr/review", id)).toBeUndefined()
  })
})

describe("deliveries about checks", () => {
  const requested = { _tag: "Commanded", command: { name: "review" }, isButton: true, sender: { username: "dana" } }

  it("a repeated check requests the review of its pull request, also of a fork, which GitHub does not name", () => {
    expect(parse("check_run", "rerequested", { check_run: check })).toMatchObject({
      ...requested,
      number: 7,
      baseRef: "main"
    })
    expect(parse("check_run", "rerequested", { check_run: { ...check, pull_requests: [] } })).toMatchObject({
      ...requested,
      number: 7,
      baseRef: undefined
    })
  })

  it("repeated checks of a commit request the review of the pull request of this repository", () => {
    const suite = { head_sha: "a1".repeat(20), pull_requests: [toPull(3, 6), toPull(8)] }
    expect(parse("check_suite", "rerequested", { check_suite: suite })).toMatchObject({ ...requested, number: 8 })
    for (const pulls of [[], [toPull(3, 6)]])
      expect(parse("check_suite", "rerequested", { check_suite: { ...suite, pull_requests: pulls } })).toMatchObject({
        _tag: "Ignored",
        reason: "unsupported_action"
      })
  })

  it("checks of others, and other actions, start nothing", () => {
    for (const [action, fields] of [
      ["rerequested", { name: "lint" }],
      ["rerequested", { external_id: "" }],
      ["completed", {}],
      ["created", {}]
    ] as const) {
      const event = parse("check_run", action, { check_run: { ...check, ...fields } })
      expect(event).toMatchObject({ _tag: "Ignored", reason: "unsupported_action" })
    }
    expect(mayStart("check_run", "completed")).toBe(false)
    expect(mayStart("check_run", "rerequested") && mayStart("check_suite", "rerequested")).toBe(true)
  })
})
