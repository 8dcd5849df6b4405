/** Lists of comments that are larger than the response that the client accepts. */
import { afterEach, describe, expect, it } from "vitest"
import { maxCommentReads } from "../../src/forge/gitea/Facts.ts"
import { failure, run, startHost } from "./Clients.ts"
import type { Host } from "./Clients.ts"

let host: Host | undefined
afterEach(async () => {
  await host?.forge.stop()
  host = undefined
})

const opened = Date.parse("2026-01-01T00:00:00Z")

/** Adds comments of 200 KB, a number of seconds apart. */
const fill = ({ forge, pull }: Host, count: number, seconds: number): void => {
  Object.assign(pull, { createdAt: new Date(opened).toISOString() })
  for (let n = 0; n < count; n++) {
    const time = new Date(opened + n * seconds * 1000).toISOString()
    const body = `comment-${n}- ${"x".repeat(200_000)}`
    pull.comments.push({ id: forge.state.nextId(), user: forge.user("aicr"), createdAt: time, updatedAt: time, body })
  }
}

const reads = ({ forge }: Host) =>
  forge.requests.filter(({ method, path }) => method === "GET" && /\/(?:comments|notes)$/.test(path)).length

describe.each(["gitea", "github", "gitlab"] as const)("%s", (kind) => {
  it("has a comment that is found in a list of 18 MB", async () => {
    host = await startHost(kind)
    fill(host, 90, 3600)
    for (const n of [0, 89]) {
      const found = await run(host.client.findComment(host.repo, 1, `comment-${n}-`))
      expect(found?.body.slice(0, 20)).toContain(`comment-${n}-`)
    }
    expect(await run(host.client.findComment(host.repo, 1, "comment-90-"))).toBeUndefined()
    host.forge.expectContract()
  })
})

describe("gitea", () => {
  it("has more within a second than a response may contain", async () => {
    host = await startHost("gitea")
    fill(host, 90, 0)
    const error = await failure(host.client.findComment(host.repo, 1, "comment-90-"))
    expect(error).toMatchObject({ reason: "invalid", why: { _tag: "HostTooLarge", mebibytes: 16 } })
    const url = `${host.forge.url}/api/v1/repos/team/shop/issues/1/comments`
    expect(error.message).toBe(`GET ${url}: the response is larger than 16 MiB`)
    expect(reads(host)).toBeLessThanOrEqual(maxCommentReads)
  })
})
