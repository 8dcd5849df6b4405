/** The administration on a local socket, over a real one. */
import { request } from "node:http"
import { mkdtemp, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Logger, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { AdminApi, maxBodyBytes } from "../../../src/admin/AdminApi.ts"
import type { AdminRequest } from "../../../src/admin/AdminApi.ts"
import * as LocalSocket from "../../../src/admin/http/LocalSocket.ts"

const plain = (body: string) => ({ status: 200, contentType: "application/json", body, headers: {} })
const received: Array<AdminRequest> = []
const api = Layer.succeed(
  AdminApi,
  AdminApi.of({
    openApi: () => plain('"openapi"'),
    docs: () => plain('"docs"'),
    bodyLimit: () => Effect.die("the socket has one limit"),
    handle: () => Effect.die("a request of the socket needs no session"),
    handleAgent: () => Effect.die("the socket serves no agents"),
    handleShared: () => Effect.die("the socket serves no links"),
    handleLocal: (given) =>
      Effect.sync(() => {
        received.push(given)
        return plain('"handled"')
      })
  })
)

let folder: string
let path: string
let runtime: ManagedRuntime.ManagedRuntime<never, never>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "aicr-socket-"))
  path = join(folder, "admin.sock")
  runtime = ManagedRuntime.make(LocalSocket.layer(path).pipe(Layer.provide(api)))
  await runtime.runPromise(Effect.void)
})
afterAll(async () => {
  await runtime.dispose()
  await rm(folder, { recursive: true, force: true })
})

interface Reply {
  readonly status: number | undefined
  readonly id: unknown
  readonly text: string
}

const call = (method: string, target: string, body = ""): Promise<Reply> =>
  new Promise((done, failed) => {
    const outgoing = request({ socketPath: path, method, path: target }, (response) => {
      const blocks: Array<Buffer> = []
      response.on("data", (block: Buffer) => blocks.push(block))
      response.once("end", () =>
        done({
          status: response.statusCode,
          id: response.headers["x-request-id"],
          text: Buffer.concat(blocks).toString()
        })
      )
    })
    outgoing.once("error", failed)
    outgoing.end(body)
  })

describe("the local socket", () => {
  it("can be opened by its owner only", async () => {
    assert.strictEqual((await stat(path)).mode & 0o077, 0)
  })

  it("passes requests on without a session, with path and query", async () => {
    const { id, status, text } = await call("POST", "/api/admin/queue/pause?x=1", '{"node":"a"}')
    assert.deepStrictEqual([status, text], [200, '"handled"'])
    assert.match(String(id), /^[0-9a-f-]{36}$/)
    const [last] = received.slice(-1)
    assert.include(last, { method: "POST", path: "/queue/pause" })
    assert.strictEqual(last?.query.get("x"), "1")
    assert.strictEqual(new TextDecoder().decode(last?.body), '{"node":"a"}')
  })

  it.each([
    ["of a path that is too long", () => join(folder, "x".repeat(120)), "its path has more than 103 bytes"],
    ["that another process serves", () => path, "another process serves it"]
  ])("is not opened instead of one %s, with a warning", async (_, at, reason) => {
    const logged: Array<unknown> = []
    const logger = Logger.make(({ message }) => void logged.push(message))
    const other = ManagedRuntime.make(
      LocalSocket.layer(at()).pipe(Layer.provide(api), Layer.provide(Logger.layer([logger])))
    )
    await other.runPromise(Effect.void)
    await other.dispose()
    const text = "local socket of the administration not opened, commands need its URL"
    assert.deepStrictEqual(logged, [[text, { path: at(), reason }]])
    assert.strictEqual((await call("GET", "/api/docs")).status, 200)
  })

  it("serves the description of the administration", async () => {
    assert.strictEqual((await call("GET", "/api/openapi.json")).text, '"openapi"')
    assert.strictEqual((await call("GET", "/api/docs")).text, '"docs"')
  })

  it.each([
    ["another path", "GET", "/metrics", "", 404, "not_found"],
    ["a body over the limit", "POST", "/api/admin/queue/pause", "x".repeat(maxBodyBytes + 1), 413, "body_too_large"]
  ])("responds to %s with a problem", async (_, method, target, body, status, code) => {
    const reply = await call(method, target, body)
    assert.strictEqual(reply.status, status)
    assert.include(JSON.parse(reply.text), { status, code })
  })
})
