/** Credentials go to the configured host only, whatever its responses contain, and repositories are addressed by name. */
import { createServer } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import { Redacted } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import type { TriggerProfile } from "../../../src/config/Snapshot.ts"
import { hostUrls } from "../../../src/domain/HostUrls.ts"
import { ForgeKind } from "../../../src/domain/Kinds.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { failure, run } from "../Clients.ts"
import { triggerDefaults } from "../../harness/TriggerDefaults.ts"
import { newTraffic } from "../../harness/Owners.ts"

const open: Array<Server> = []
afterEach(() => open.splice(0).forEach((server) => server.close()))

/** A server that records its requests. */
const listen = async (answer: (request: IncomingMessage, response: ServerResponse) => void) => {
  const asked: Array<string> = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? "")
    answer(request, response)
  })
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`, asked }
}

const clientAt = (kind: ForgeKind, url: string) => {
  const settings = { name: "host", kind, ...triggerDefaults } as const
  const profile: TriggerProfile = {
    ...settings,
    webhookSecret: undefined,
    token: Redacted.make("t0ken"),
    ...hostUrls(kind, url),
    settings
  }
  return forgeTable[kind].client(profile, newTraffic())
}
const repo = { fullName: "acme/app", hostId: 99 }

describe.each(ForgeKind.literals)("%s", (kind) => {
  it.each([301, 302, 307, 308])("is not left where it responds with %i and another origin", async (status) => {
    const other = await listen((_, response) => response.end("{}"))
    const host = await listen((request, response) => {
      response.writeHead(status, { location: `${other.url}${request.url}` }).end()
    })
    const client = clientAt(kind, host.url)
    await failure(client.pull(repo, 1))
    await failure(client.createComment(repo, 1, "hello"))
    assert.lengthOf(host.asked, 2)
    assert.deepStrictEqual(other.asked, [])
  })

  it("is not left for a next page at another origin", async () => {
    const other = await listen((_, response) => response.end("[]"))
    const host = await listen((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://host")
      if (pathname.endsWith("/user")) return response.end('{"login":"me","username":"me"}')
      const page = searchParams.get("page")
      const link = page === "2" ? {} : { link: `<${other.url}/next?page=2>; rel="next"` }
      response.writeHead(200, { "content-type": "application/json", ...link }).end(page === "2" ? "[]" : issues)
    })
    await run(clientAt(kind, host.url).issues.list(repo, "open", 1000))
    assert.lengthOf(
      host.asked.filter((path) => path.includes("page=2")),
      1
    )
    assert.deepStrictEqual(other.asked, [])
  })

  it("has a list without an end read for 100 pages", async () => {
    const host = await listen((request, response) => {
      if (request.url?.endsWith("/user") === true) return response.end('{"login":"me","username":"me"}')
      const link = `<http://${request.headers.host}/next>; rel="next"`
      response.writeHead(200, { "content-type": "application/json", link }).end(issues)
    })
    await run(clientAt(kind, host.url).issues.list(repo, "open", 1_000_000))
    const pages = host.asked.flatMap((path) => new URL(path, "http://host").searchParams.get("page") ?? [])
    assert.deepStrictEqual([pages.length, pages.at(-1)], [100, "100"])
  })

  it("gets requests for the repository by name, not by the number of a payload", async () => {
    const host = await listen((_, response) => response.writeHead(404).end("{}"))
    await failure(clientAt(kind, host.url).pull(repo, 1))
    assert.notInclude(host.asked.join(), "99")
    assert.match(host.asked.join(), /acme(?:\/|%2F)app/)
  })
})

const issues = JSON.stringify([{ id: 1, iid: 1, number: 1, title: "t", state: "open", body: "", html_url: "" }])

it("a title that no store can hold is repaired", async () => {
  const issue = { number: 1, title: "a\ud800b\u0000", state: "open", body: "fine \ud83d\ude00", html_url: "" }
  const host = await listen((_, response) => response.end(JSON.stringify(issue)))
  const found = await run(clientAt("github", host.url).issues.read(repo, 1))
  assert.deepInclude(found, { title: "a\ufffdb\ufffd", body: "fine 😀" })
})
