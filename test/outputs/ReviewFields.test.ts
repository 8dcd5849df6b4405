/** Fields of review channels, links and authors: each changes what arrives on a pull request. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { file, repoName, run, startHost } from "../forge/Clients.ts"
import type { Host } from "../forge/Clients.ts"
import { analysis, change, finding } from "./Fixtures.ts"
import { documentFor, only, publisher } from "./FromDocument.ts"

const located = finding(1, { file }, { path: file, side: "new", line: 20 })
const clean = { analysis: analysis([], { coverage: { reviewed: [file], skipped: [], lines: 3 } }) }

describe("a review on a pull request", () => {
  let host: Host
  beforeAll(async () => {
    host = await startHost("gitea")
  })
  afterEach(() => {
    host.forge.expectContract()
    host.pull.comments.splice(0)
    host.pull.reviews.splice(0)
  })
  afterAll(async () => {
    await host.forge.stop()
  })

  const own = { kind: "gitea_pr_review" }
  const publish = (outputs: object, trigger: object = {}, env: Readonly<Record<string, string>> = {}) =>
    publisher(host, documentFor(host, { ...outputs }, { ...trigger }), env)
  const comments = () => host.pull.comments.map(({ body }) => body)
  const summary = () => comments()[0] ?? ""

  it.each(["token", "token_env"])("is written with the trigger's %s, and goes nowhere without one", async (name) => {
    const none = { token: undefined }
    const credential = name === "token" ? {} : { ...none, token_env: "TRIGGER_TOKEN" }
    await publish({}, credential, { TRIGGER_TOKEN: host.forge.token })([located])
    expect(host.pull.reviews).toHaveLength(1)
    await expect(publish({}, none)([located])).rejects.toThrow("trigger host has no outbound credential")
  })

  it.each([
    ["token", { token: "t0ken-of-the-reviewer" }],
    ["token_env", { token_env: "OWN_TOKEN" }]
  ])("is written with the channel's %s", async (_, credential) => {
    await publish(only({ ...own, ...credential }), { token: "revoked" }, { OWN_TOKEN: host.forge.token })([located])
    expect(host.pull.reviews).toHaveLength(1)
  })

  it("is written to the channel's base_url", async () => {
    const channel = { ...own, base_url: host.forge.url }
    await publish(only(channel), { base_url: `${host.forge.url}/nowhere` })([located])
    expect(host.pull.reviews).toHaveLength(1)
  })

  it("has a summary of its own each time where review_update_strategy is always_new", async () => {
    const again = publish(only({ ...own, review_update_strategy: "always_new" }))
    await again([located])
    await host.forge.push(repoName, { branch: "feature/x", message: "more", files: { "b.txt": "b\n" } })
    await again([located])
    expect(comments()).toHaveLength(2)
  })

  it("approves a later clean head with review_approve", async () => {
    const again = publish(only({ ...own, review_event: "REQUEST_CHANGES", review_approve: "when_clean" }))
    await again([located])
    await host.forge.push(repoName, { branch: "feature/x", message: "fixed", files: { "c.txt": "c\n" } })
    await again([], clean)
    expect(host.pull.reviews.map(({ state }) => state)).toEqual(["REQUEST_CHANGES", "APPROVED"])
  })

  const publishing = { no_problems: { action: "publish" } }
  it.each([
    ["the channel", only({ ...own, ...publishing })],
    ["all channels", publishing],
    [
      "the channel, whatever is said for all",
      { ...only({ ...own, ...publishing }), no_problems: { action: "suppress" } }
    ]
  ])("is published without problems where no_problems of %s requires it", async (_, outputs) => {
    await publish({})([], clean)
    expect(comments()).toEqual([])
    await publish(outputs)([], clean)
    expect(comments()).toEqual([expect.stringContaining("No problems found.")])
  })

  it.each([
    ["the channel", only({ ...own, commit_url_template: "https://cgit.test/{{sha}}" }), {}],
    ["the trigger", {}, { commit_url_template: "https://cgit.test/{{sha}}" }]
  ])("links its commit by the commit_url_template of %s", async (_, outputs, trigger) => {
    await publish(outputs, trigger)([located])
    expect(summary()).toContain(`https://cgit.test/${host.pull.head}`)
  })

  it("mentions those who have to do with the change where the author is not found, with mention_fallback", async () => {
    const { author: _, ...nobody } = { ...change, head: host.pull.head, requestedBy: "olga" }
    await publish(only({ ...own, mention_author: true, mention_fallback: "all" }))([located], { change: nobody })
    expect(summary()).toContain("@olga")
  })

  it.each([
    ["the account that email_mappings names", "email_mappings", (email: string) => ({ [email]: "mapped" }), "@mapped"],
    ["nobody whose address is in email_blacklist", "email_blacklist", (email: string) => [email], undefined]
  ] as const)("mentions %s", async (_, field, of, mention) => {
    const { email = "" } = await run(host.client.commitAuthor(host.repo, host.pull.head))
    await publish({ ...only({ ...own, mention_author: true }), author_resolution: { [field]: of(email) } })([located])
    expect(summary().match(/@\w+/g)?.[0]).toBe(mention)
  })
})
