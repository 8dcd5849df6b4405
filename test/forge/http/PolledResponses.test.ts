/** Responses to requests that are repeated are sent by the host only if they differ. */
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { PolledResponses } from "../../../src/forge/http/PolledResponses.ts"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import { repoName, run, startHost } from "../Clients.ts"
import type { Host } from "../Clients.ts"

const response = (body: string, etag?: string, status = 200) => ({
  status,
  headers: etag === undefined ? {} : { etag },
  body
})

it("a response is kept with its ETag, and replaced by another one", () => {
  const polled = new PolledResponses()
  expect(polled.conditions("a")).toEqual({})
  expect(polled.resolve("a", response("1", "e1")).body).toBe("1")
  expect(polled.conditions("a")).toEqual({ "if-none-match": "e1" })
  expect(polled.resolve("a", response("", "e1", 304))).toMatchObject({ status: 200, body: "1" })
  expect(polled.resolve("a", response("2", "e2")).body).toBe("2")
  expect(polled.conditions("a")).toEqual({ "if-none-match": "e2" })
  // A failure, and a response without an ETag, are not kept.
  expect(polled.resolve("a", response("down", undefined, 500)).status).toBe(500)
  expect(polled.resolve("b", response("3")).body).toBe("3")
  expect([polled.conditions("a"), polled.conditions("b")]).toEqual([{}, {}])
  expect(polled.resolve("b", response("", "e3", 304)).status).toBe(304)
})

it("large responses displace those that were used least recently", () => {
  const polled = new PolledResponses()
  const large = "x".repeat(3 * 1024 * 1024)
  for (const url of ["a", "b"]) polled.resolve(url, response(large, url))
  polled.resolve("a", response("", "a", 304))
  polled.resolve("c", response(large, "c"))
  expect(["a", "b", "c"].filter((url) => Object.keys(polled.conditions(url)).length > 0)).toEqual(["a", "c"])
  polled.resolve("d", response(large.repeat(3), "d"))
  expect(["a", "b", "c", "d"].filter((url) => Object.keys(polled.conditions(url)).length > 0)).toEqual([])
})

describe.each(ForgeKind.literals)("%s", (kind) => {
  let host: Host
  beforeEach(async () => {
    host = await startHost(kind)
  })
  afterEach(async () => {
    host.forge.expectContract()
    await host.forge.stop()
  })

  it("lists that are polled are sent again only if they differ", async () => {
    const { changes, hooks } = host.client
    const owner = { name: "team", repositories: [repoName] }
    const poll = async () => {
      const before = host.forge.requests.length
      const read = [
        await run(changes.pulls(owner, 0, 10)),
        await run(changes.tips(host.repo, ["main", "feature/x"])),
        await run(hooks.newest(owner))
      ]
      return { read, statuses: host.forge.requests.slice(before).map(({ status }) => status) }
    }
    const first = await poll()
    const hasEtags = kind === "github" || kind === "gitlab"
    expect(first.statuses.every((status) => status === 200)).toBe(true)
    expect(await poll()).toEqual({ read: first.read, statuses: hasEtags ? [304, 304, 304] : [200, 200, 200] })
    // One request of each; another commit is another response.
    await host.forge.push(repoName, { branch: "main", message: "more", files: { "b.txt": "b\n" } })
    const { read, statuses } = await poll()
    expect(read[1]).not.toEqual(first.read[1])
    expect(statuses[1]).toBe(200)
    // Other requests are not conditional.
    for (let n = 0; n < 2; n++) await run(host.client.pull(host.repo, host.pull.number))
    expect(host.forge.requests.at(-1)?.status).toBe(200)
  })
})
