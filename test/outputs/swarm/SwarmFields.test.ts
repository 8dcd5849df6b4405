/** Fields of channels that write to Swarm, each observed in what its server gets. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, request as forward } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { startFakeSwarm } from "../../harness/FakeSwarm.ts"
import type { FakeSwarm } from "../../harness/FakeSwarm.ts"
import { renderError } from "../Fixtures.ts"
import { makeChannel, makeDocument, path, problem, shelved, swarmPublisher } from "./PublishSwarm.ts"

const canCertify = spawnSync("openssl", ["version"]).status === 0

const portOf = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

describe("a review in Swarm", () => {
  let swarm: FakeSwarm
  const servers: Array<Server> = []
  beforeEach(async () => {
    swarm = await startFakeSwarm()
    swarm.reviews.push({ id: 70, changes: [7], commits: [], state: "needsReview", versions: [] })
  })
  afterEach(async () => {
    for (const server of servers.splice(0)) server.close()
    swarm.expectContract()
    await swarm.stop()
  })

  const publish = (
    more: Readonly<Record<string, unknown>> = {},
    env: Readonly<Record<string, string>> = {},
    baseDir?: string
  ) => swarmPublisher(makeDocument(makeChannel(swarm, more)), env, baseDir)
  const published = () => swarm.comments.map(({ context }) => context?.["file"])
  const both = [undefined, `//Ace/main/${path}`]

  it("goes to the server of base_url, below its path", async () => {
    await publish({ base_url: `${swarm.url}/` })(shelved, [problem(1, 5)])
    expect(published()).toEqual(both)
  })

  it.each([
    ["user", { user: "reviewer" }, {}],
    ["user_env", { user: undefined, user_env: "SWARM_USER" }, { SWARM_USER: "reviewer" }]
  ] as const)("is written as the user of %s", async (_, settings, env) => {
    await publish(settings, env)(shelved, [problem(1, 5)])
    expect(published()).toEqual(both)
    const [name] = Buffer.from(swarm.requests[0]?.authorization?.slice("Basic ".length) ?? "", "base64")
      .toString()
      .split(":")
    expect(name).toBe("reviewer")
  })

  it.each(["ticket", "ticket_env", "password", "password_env"] as const)("is written with %s", async (name) => {
    const secret = name.endsWith("_env") ? "SWARM_SECRET" : swarm.ticket
    await publish({ ticket: undefined, [name]: secret }, { SWARM_SECRET: swarm.ticket })(shelved, [problem(1, 5)])
    expect(published()).toEqual(both)
  })

  it("is waited for during review_wait_seconds, and is not when that has passed", async () => {
    swarm.reviews.length = 0
    const [waiting] = await publish({ review_wait_seconds: 3600 })(shelved, [problem(1, 5)])
    expect(waiting?.status).toBe("failed")
    expect(renderError(waiting)).toContain("no review of changelist 7")
    const [skipped] = await publish({ review_wait_seconds: 0 })(shelved, [problem(1, 5)])
    expect(skipped).toMatchObject({ status: "dropped" })
  })

  it.each([
    [undefined, "open"],
    [true, "open"],
    [false, "comment"]
  ])("opens tasks with problem_tasks %s: %s", async (tasks, state) => {
    const review = publish({ problem_tasks: tasks })
    await review(shelved, [problem(1, 5)])
    expect(swarm.comments.map(({ taskState }) => taskState)).toEqual(["comment", state])
    await review({ ...shelved, head: "7-ba9876543210" }, [])
    expect(swarm.comments[1]).toMatchObject(
      tasks === false ? { taskState: "comment", flags: ["closed"] } : { taskState: "addressed", flags: [] }
    )
    await review({ ...shelved, head: "7-000000000000" }, [problem(1, 5)])
    expect(swarm.comments[1]).toMatchObject({ taskState: state, flags: [] })
  })

  it.each([
    [undefined, "delayed"],
    ["batched", "delayed"],
    ["immediate", "immediate"],
    ["none", "none"]
  ])("sends e-mail messages with notifications %s: %s", async (notifications, expected) => {
    const review = publish({ notifications })
    await review(shelved, [problem(1, 5)])
    await review({ ...shelved, head: "7-ba9876543210" }, [])
    expect(swarm.comments.map(({ edits, notification }) => [edits, notification])).toEqual([
      [1, expected],
      [1, expected]
    ])
  })

  it("mentions the user of the changelist with mention_author", async () => {
    await publish({ mention_author: true })(shelved, [problem(1, 5)])
    expect(swarm.comments[0]?.body).toContain("@ada")
    expect(swarm.comments[0]?.body).not.toContain("aicr-author")
  })

  it("links changelists with change_url_template", async () => {
    await publish({ change_url_template: "https://swarm.example/changes/{{change}}" })(shelved, [problem(1, 5)])
    expect(swarm.comments[0]?.body).toContain("(https://swarm.example/changes/7)")
  })

  it("has the parts that its routes select", async () => {
    await swarmPublisher(makeDocument(makeChannel(swarm), { line_comments: ["swarm"] }))(shelved, [problem(1, 5)])
    expect(published()).toEqual([both[1]])
    swarm.comments.length = 0
    await swarmPublisher(makeDocument(makeChannel(swarm), { summary: ["swarm"] }))(shelved, [problem(1, 5)])
    expect(published()).toEqual([undefined])
    expect(swarm.comments[0]?.body).toContain("Message 1")
  })

  it("has at most max_comments comments; the others are in the summary", async () => {
    await publish({ max_comments: 1 })(shelved, [problem(1, 5), problem(2, 6)])
    expect(published()).toEqual(both)
    expect(swarm.comments[0]?.body).toContain("- **2** 🟠 Medium · Title 2")
  })

  /** Forwards to the fake server. */
  const relay =
    (seen: Array<string>): Parameters<typeof createServer>[1] =>
    (incoming, response) => {
      seen.push(incoming.url ?? "")
      const target = new URL(incoming.url ?? "/", swarm.url)
      const url = `${swarm.url}${target.pathname}${target.search}`
      const sent = forward(url, { method: incoming.method, headers: incoming.headers }, (answered) => {
        response.writeHead(answered.statusCode ?? 500, answered.headers)
        answered.pipe(response)
      })
      incoming.pipe(sent)
    }

  it("goes through http_proxy", async () => {
    const seen: Array<string> = []
    const proxy = createServer({}, relay(seen))
    servers.push(proxy)
    const http_proxy = `http://127.0.0.1:${await portOf(proxy)}`
    await publish({ base_url: "http://swarm.invalid", http_proxy })(shelved, [problem(1, 5)])
    expect(published()).toEqual(both)
    expect(seen[0]).toMatch(/^http:\/\/swarm\.invalid\/api\/v9\/reviews/)
  })

  it.skipIf(!canCertify)("trusts the authorities of tls_ca_path, relative to the configuration", async () => {
    const directory = mkdtempSync(join(tmpdir(), "aicr-swarm-tls-"))
    const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")]
    const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject],
      {
        stdio: "ignore"
      }
    )
    const tls = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, relay([]))
    servers.push(tls)
    const base_url = `https://127.0.0.1:${await portOf(tls)}`
    const [refused] = await publish({ base_url })(shelved, [problem(1, 5)])
    expect(renderError(refused)).toMatch(/self.signed/i)
    const rows = await publish({ base_url, tls_ca_path: "cert.pem" }, {}, directory)(shelved, [problem(1, 5)])
    rmSync(directory, { recursive: true, force: true })
    expect(rows[0]?.error).toBeUndefined()
    expect(published()).toEqual(both)
  })
})
