/** Deliveries of merge queues: a group is named by its branch, and nothing but a branch of a queue starts its review. */
import { describe, expect, it } from "vitest"
import { mayStart, webhook } from "../../../src/forge/github/Webhook.ts"

const head = "a1".repeat(20)
const base = "b2".repeat(20)
const branch = `gh-readonly-queue/main/pr-104-${base}`
const merged = {
  head_sha: head,
  head_ref: `refs/heads/${branch}`,
  base_sha: base,
  base_ref: "refs/heads/main",
  head_commit: { id: head, message: "No functional change" }
}

const parse = (action: string, fields: object = {}) => {
  const payload = {
    action,
    merge_group: { ...merged, ...fields },
    repository: { id: 5, full_name: "team/shop" },
    sender: { login: "dana" }
  }
  return webhook.parse({ "x-github-event": "merge_group" }, new TextEncoder().encode(JSON.stringify(payload)))
}
const eventIn = (parsed: ReturnType<typeof parse>) => {
  if (parsed._tag !== "Event") throw new Error(JSON.stringify(parsed))
  return parsed.event
}

describe("deliveries of merge queues", () => {
  it("a request for checks names the group, its commits and its last pull request", () => {
    expect(eventIn(parse("checks_requested"))).toMatchObject({
      _tag: "MergeGroupQueued",
      group: { branch, baseRef: "main", number: 104 },
      head,
      base,
      subject: { kind: "merge_group", number: 104, head, branch: "main" }
    })
    expect(mayStart("merge_group", "checks_requested")).toBe(true)
  })

  it("the branch to merge into may have slashes, and a branch may name no pull request", () => {
    const release = `gh-readonly-queue/release/1.x/pr-7-${base}`
    const fields = { head_ref: `refs/heads/${release}`, base_ref: "refs/heads/release/1.x" }
    expect(eventIn(parse("checks_requested", fields))).toMatchObject({
      group: { branch: release, baseRef: "release/1.x", number: 7 }
    })
    for (const name of ["batch-1", "pr-0-abc", "pr-1234567890-abc"]) {
      const other = `gh-readonly-queue/main/${name}`
      const event = eventIn(parse("checks_requested", { head_ref: `refs/heads/${other}` }))
      expect(event).toHaveProperty("group", { branch: other, baseRef: "main", number: undefined })
    }
  })

  it("a group that left the queue ends", () => {
    expect(eventIn(parse("destroyed"))).toMatchObject({ _tag: "MergeGroupEnded", group: { branch, number: 104 } })
    expect(mayStart("merge_group", "destroyed")).toBe(false)
  })

  it.each([
    ["a branch that is not of a queue", { head_ref: "refs/heads/feature" }],
    ["a branch of the queue of another branch", { base_ref: "refs/heads/release" }],
    ["a branch whose name only begins like the queue", { head_ref: "refs/heads/gh-readonly-queue/main" }],
    ["a tag", { head_ref: `refs/tags/${branch}` }],
    ["a name that git would read as an option", { head_ref: "refs/heads/--upload-pack=x", base_ref: "refs/heads/-" }],
    ["a path out of the refs", { head_ref: "refs/heads/gh-readonly-queue/main/../../x" }],
    ["no branch", { head_ref: undefined }],
    ["no branch to merge into", { base_ref: undefined }],
    ["values of other types", { head_ref: 7, base_ref: {} }]
  ])("%s starts nothing", (_, fields) => {
    expect(eventIn(parse("checks_requested", fields))).toMatchObject({ _tag: "Ignored", reason: "unsupported_action" })
    expect(eventIn(parse("destroyed", fields))).toMatchObject({ _tag: "Ignored", reason: "unsupported_action" })
  })

  it.each([["head_sha"], ["base_sha"]])("a %s that is not a commit is refused", (field) => {
    for (const value of [undefined, "main", "--output=x", "A1".repeat(20), 7])
      expect(parse("checks_requested", { [field]: value })).toMatchObject({
        _tag: "Rejected",
        reason: "invalid_payload"
      })
  })

  describe("the button that repeats a check", () => {
    const repeat = (event: "check_run" | "check_suite", fields: object, headBranch: unknown = branch) => {
      const suite = { head_branch: headBranch, head_sha: head, pull_requests: [] }
      const check =
        event === "check_suite"
          ? { ...suite, ...fields }
          : {
              name: "aicr/review",
              external_id: "104:op",
              head_sha: head,
              check_suite: suite,
              pull_requests: [],
              ...fields
            }
      const payload = {
        action: "rerequested",
        [event]: check,
        repository: { id: 5, full_name: "team/shop" },
        sender: { login: "dana" }
      }
      return eventIn(webhook.parse({ "x-github-event": event }, new TextEncoder().encode(JSON.stringify(payload))))
    }

    it.each(["check_run", "check_suite"] as const)(
      "%s: requests the review of the group, of which its branch has the base",
      (event) => {
        expect(repeat(event, {})).toMatchObject({
          _tag: "MergeGroupQueued",
          isRepeated: true,
          group: { branch, baseRef: "main", number: 104 },
          head,
          base,
          subject: { kind: "merge_group", number: 104, head, branch: "main" }
        })
        expect(mayStart(event, "rerequested")).toBe(true)
      }
    )

    it("requests nothing for a check of others, and for no group", () => {
      expect(repeat("check_run", { name: "tests" })).toMatchObject({ _tag: "Ignored" })
      expect(repeat("check_suite", { head_sha: "main" })).toMatchObject({ _tag: "Ignored" })
      for (const other of [
        "feature",
        `gh-readonly-queue/pr-1-${base}`,
        "gh-readonly-queue/main/pr-1-abc",
        `gh-readonly-queue/../x/pr-1-${base}`,
        7,
        null
      ])
        expect(repeat("check_suite", {}, other)).toMatchObject({ _tag: "Ignored" })
      // A branch of a pull request requests the review of that.
      expect(repeat("check_run", {}, "feature")).toMatchObject({ _tag: "Commanded", number: 104 })
    })
  })

  it("other actions start nothing", () => {
    expect(eventIn(parse("merged"))).toMatchObject({ _tag: "Ignored", reason: "unsupported_action" })
  })
})
