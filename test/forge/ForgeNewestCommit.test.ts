/** The newest commit of a branch, now and at a time: the requests to each host. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import { ForgeKind } from "../../src/domain/Kinds.ts"
import { forgeTable } from "../../src/forge/ForgeTable.ts"

const asked: Array<URL> = []
let commits: ReadonlyArray<{ readonly sha: string; readonly id: string }> = []
const server = createServer((request, response) => {
  asked.push(new URL(request.url ?? "/", "http://host.test"))
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify(commits))
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
    settings: { name: "host", kind, enabled: true, trust_server_cert: false }
  }
  return forgeTable[kind].client(profile)
}
const repo = { fullName: "team/app" }
const until = Date.parse("2026-03-09T03:00:00Z")
const expected = {
  gitea: { path: "/api/repos/team/app/commits", branch: "sha", one: "limit" },
  forgejo: { path: "/api/repos/team/app/commits", branch: "sha", one: "limit" },
  github: { path: "/api/repos/team/app/commits", branch: "sha", one: "per_page" },
  gitlab: { path: "/api/projects/team%2Fapp/repository/commits", branch: "ref_name", one: "per_page" }
} as const satisfies Record<ForgeKind, object>

describe.each(ForgeKind.literals)("%s", (kind) => {
  const { branch, one, path } = expected[kind]
  it("requests one commit of the branch, up to a time", async () => {
    commits = [{ sha: "c1", id: "c1" }]
    const found = await Effect.runPromise(client(kind).newestCommit(repo, { branch: "a/b", until }))
    const last = asked.at(-1)
    expect(found).toBe("c1")
    expect(last?.pathname).toBe(path)
    expect(Object.fromEntries(last?.searchParams ?? [])).toMatchObject({
      [branch]: "a/b",
      [one]: "1",
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
