/** The newest commit of a branch, now and at a time: the requests to each host. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import { triggerDefaults } from "../harness/TriggerDefaults.ts"
import { newTraffic } from "../harness/Owners.ts"

const asked: Array<URL> = []
let commits: ReadonlyArray<{ readonly sha: string; readonly id: string; readonly created: string }> = []
let filtersByTime = true
const server = createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://host.test")
  asked.push(url)
  const query = url.searchParams
  const bound = filtersByTime ? (query.get("until") ?? "9999") : "9999"
  const size = Number(query.get("limit") ?? query.get("per_page"))
  const from = (Number(query.get("page") ?? 1) - 1) * size
  const matching = commits.filter(({ created }) => created <= bound)
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify(matching.slice(from, from + size)))
})
beforeAll(() => new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening)))
afterAll(() => new Promise((closed) => server.close(closed)))

const client = (kind: ForgeKind) => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const profile: TriggerProfile = {
    name: "host",
    kind,
    enabled: true,
    webhookSecret: undefined,
    token: Redacted.make("token"),
    baseUrl: url,
    apiUrl: `${url}/api`,
    settings: { name: "host", kind, ...triggerDefaults }
  }
  return forgeTable[kind].client(profile, newTraffic())
}
const repo = { fullName: "team/app" }
const until = Date.parse("2026-03-09T03:00:00Z")
const expected = {
  gitea: { path: "/api/repos/team/app/commits", branch: "sha", size: { limit: "50" } },
  forgejo: { path: "/api/repos/team/app/commits", branch: "sha", size: { limit: "50" } },
  github: { path: "/api/repos/team/app/commits", branch: "sha", size: { per_page: "1" } },
  gitlab: { path: "/api/projects/team%2Fapp/repository/commits", branch: "ref_name", size: { per_page: "1" } }
} as const satisfies Record<ForgeKind, object>

describe.each(ForgeKind.literals)("%s", (kind) => {
  const { branch, path, size } = expected[kind]
  it("requests commits of the branch, up to a time", async () => {
    commits = [{ sha: "c1", id: "c1", created: "2026-03-08T03:00:00Z" }]
    const found = await Effect.runPromise(client(kind).newestCommit(repo, { branch: "a/b", until }))
    const last = asked.at(-1)
    expect(found).toBe("c1")
    expect(last?.pathname).toBe(path)
    expect(Object.fromEntries(last?.searchParams ?? [])).toMatchObject({
      [branch]: "a/b",
      ...size,
      until: "2026-03-09T03:00:00.000Z"
    })
  })

  it("names no branch for the default one, and finds none in what is empty", async () => {
    commits = []
    expect(await Effect.runPromise(client(kind).newestCommit(repo, {}))).toBeUndefined()
    const names = [...(asked.at(-1)?.searchParams.keys() ?? [])]
    expect(names).not.toContain(branch)
    expect(names).not.toContain("until")
  })
})

describe.each(["gitea", "forgejo"] as const)("%s", (kind) => {
  const hour = 3_600_000
  const newest = Date.parse("2026-03-09T03:00:00Z")
  const at = (age: number) => new Date(newest - age * hour).toISOString()
  const find = async (age: number) => {
    const before = asked.length
    const found = await Effect.runPromise(
      client(kind).newestCommit(repo, { branch: "main", until: newest - age * hour })
    )
    return [found, asked.length - before] as const
  }

  it("that ignores the time finds the commit by its pages", async () => {
    commits = Array.from({ length: 7000 }, (_, age) => ({ sha: `c${age}`, id: `c${age}`, created: at(age) }))
    filtersByTime = false
    for (const age of [0, 1, 49, 50, 99, 100, 3210, 6399, 6400, 6999]) {
      const [found, requests] = await find(age)
      expect([age, found]).toEqual([age, `c${age}`])
      expect(requests).toBeLessThanOrEqual(16)
    }
    expect(await find(30)).toEqual(["c30", 1])
    expect((await find(7001))[0]).toBeUndefined()
  })

  it("that filters by the time is sent one request", async () => {
    filtersByTime = true
    expect(await find(3210)).toEqual(["c3210", 1])
    expect(await find(7001)).toEqual([undefined, 1])
  })
})
