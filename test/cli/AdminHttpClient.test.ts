/** The transport of the administration's client, over real servers. */
import { createServer } from "node:http"
import type { IncomingHttpHeaders, RequestListener, Server } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { afterAll, afterEach, assert, describe, it } from "vitest"
import { findServed, sendTo } from "../../src/cli/AdminHttpClient.ts"

const servers: Array<Server> = []
const folder = mkdtempSync(join(tmpdir(), "aicr-client-"))
afterEach(() => Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done)))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const listen = (at: string | undefined, respond: RequestListener): Promise<Server> =>
  new Promise((done) => {
    const server = createServer((incoming, outgoing) => {
      outgoing.setHeader("connection", "close")
      respond(incoming, outgoing)
    })
    servers.push(server)
    if (at === undefined) server.listen(0, "127.0.0.1", () => done(server))
    else server.listen(at, () => done(server))
  })

const urlOf = (server: Server): string => {
  const address: AddressInfo | string | null = server.address()
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}/prefix` : ""
}

const call = { method: "POST", path: "/api/admin/queue?limit=1", body: '{"a":1}' }

describe("a call of the administration", () => {
  it("has the same form over a URL and over a socket, and only the one over a URL has a token", async () => {
    const received: Array<readonly [string | undefined, string, IncomingHttpHeaders]> = []
    const respond: RequestListener = (incoming, outgoing) => {
      let body = ""
      incoming.on("data", (part: Buffer) => (body += part.toString()))
      incoming.once("end", () => {
        received.push([incoming.url, body, incoming.headers])
        outgoing.writeHead(201, { "x-reply": "yes" }).end("text")
      })
    }
    const socketPath = join(folder, "admin.sock")
    const token = Redacted.make("secret-token")
    const url = urlOf(await listen(undefined, respond))
    await listen(socketPath, respond)
    assert.strictEqual(await Effect.runPromise(findServed([`${socketPath}.none`, socketPath])), socketPath)
    received.length = 0
    for (const endpoint of [{ url, token }, { socketPath }]) {
      const reply = await Effect.runPromise(sendTo(endpoint)(call))
      assert.deepStrictEqual([reply.status, reply.headers["x-reply"], reply.text], [201, "yes", "text"])
    }
    assert.deepStrictEqual(
      received.map(([path, body, headers]) => [path, body, headers["content-type"], headers.authorization]),
      [
        [`/prefix${call.path}`, call.body, "application/json", "Bearer secret-token"],
        [call.path, call.body, "application/json", undefined]
      ]
    )
    assert.isString(received[1]?.[2]["x-aicr-user"])
  })

  it("follows no redirect, so that the token reaches no other address", async () => {
    let reached = 0
    const other = await listen(undefined, (_, outgoing) => {
      reached++
      outgoing.end("{}")
    })
    const redirecting = await listen(undefined, (_, outgoing) =>
      outgoing.writeHead(307, { location: urlOf(other) }).end()
    )
    const url = urlOf(redirecting)
    const { code, message } = await Effect.runPromise(Effect.flip(sendTo({ url, token: Redacted.make("t") })(call)))
    assert.strictEqual(code, 3)
    assert.include(message, `no service responds at ${url}: it redirects to another address (status 307)`)
    assert.strictEqual(reached, 0)
  })

  it("names the address that does not respond, and what to do", async () => {
    const server = await listen(undefined, (incoming) => incoming.socket.destroy())
    const url = urlOf(server)
    const { message } = await Effect.runPromise(Effect.flip(sendTo({ url })(call)))
    assert.strictEqual(message, `no service responds at ${url}: ECONNRESET; start it, or name its address with --url`)
  })
})
