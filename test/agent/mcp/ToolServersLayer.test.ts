/** The tool server of a pass, over its socket: what agents get, and what a hostile agent does not. */
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { Effect, Layer, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { readStdioBridge } from "../../../src/agent/mcp/StdioBridgeText.ts"
import { toolServersLayer } from "../../../src/agent/mcp/ToolServersLayer.ts"
import { toolNames } from "../../../src/agent/tools/Tools.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { overSocket, withTools } from "./ToolFixture.ts"

const problem = { file: "a.ts", severity: "high", category: "bug", message: "It fails.", quote: "a = 1" }
const long = Array.from({ length: 400 }, (_, at) => `const value${at} = ${at} // ${"ä".repeat(30)}`).join("\n")

describe("an agent", () => {
  it.each(["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])(
    "shakes hands by the protocol of %s, lists the tools and reports",
    async (protocolVersion) => {
      await withTools({ tools: ["report_problem", "skip"] }, async ({ problems, called, post, server }) => {
        const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } }
        const first = await post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }))
        expect(first.status).toBe(200)
        expect(JSON.parse(first.text).result).toMatchObject({ protocolVersion, serverInfo: { name: "aicr" } })
        const session = String(first.headers["mcp-session-id"] ?? "")
        const headers = {
          ...(session === "" ? {} : { "mcp-session-id": session }),
          "mcp-protocol-version": protocolVersion
        }
        const noted = await post('{"jsonrpc":"2.0","method":"notifications/initialized"}', headers)
        expect(noted.status).toBe(202)
        const listed = await post('{"jsonrpc":"2.0","id":2,"method":"tools/list"}', headers)
        const { tools } = JSON.parse(listed.text).result
        expect(tools.map(({ name }: { name: string }) => name)).toEqual(["report_problem", "skip"])
        const params2 = { name: "mcp__aicr__report.problem", arguments: problem }
        const reported = await post(
          JSON.stringify({ jsonrpc: "2.0", id: "x", method: "tools/call", params: params2 }),
          headers
        )
        expect(JSON.parse(reported.text)).toMatchObject({ id: "x", result: { content: [{ text: "recorded" }] } })
        expect(problems).toEqual([problem])
        expect(called).toEqual(["tools/list", "report_problem"])
        expect(await Effect.runPromise(server.counts)).toEqual({ calls: 1, refused: 0 })
      })
    }
  )

  it("may report under another name, and a report that cannot be read under one is refused", async () => {
    await withTools({}, async ({ call, problems, refused }) => {
      expect(await call("report_bug", problem)).toMatchObject({ text: "recorded", isError: false })
      expect(problems).toEqual([problem])
      expect(await call("post_comment", { text: "a bug" })).toMatchObject({ isError: true })
      expect(refused).toHaveLength(1)
    })
  })

  it("gets the error of an invalid call, and of the invalid part of one, as a result that it can repair", async () => {
    await withTools({}, async ({ call, problems, refused, server }) => {
      expect(await call("report_problem", { ...problem, severity: "awful" })).toEqual({
        text: expect.stringMatching(/^error: not accepted\. severity: /),
        isError: true
      })
      const { isError, text } = await call("report_problems", { problems: [problem, { file: "b.ts" }] })
      expect(text).toMatch(/^1: recorded\n2: error: not accepted/)
      expect(isError).toBe(true)
      expect(problems).toEqual([problem])
      expect(refused).toHaveLength(2)
      expect(await Effect.runPromise(server.counts)).toEqual({ calls: 2, refused: 2 })
    })
  })

  it("reads a long reply in parts, each below the limit, which together are the whole", async () => {
    await withTools({ files: { "long.ts": long }, maxReplyBytes: 2_000 }, async ({ call }) => {
      const input = { path: "long.ts", range: "1-200", reason: "to see" }
      const parts: Array<string> = []
      for (let part = 1; ; part++) {
        const { isError, text } = await call("fetch_more_context", part === 1 ? input : { ...input, part })
        expect(isError).toBe(false)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2_000)
        const [, body = "", note = ""] = /^([^]*)\n\[part \d+ of \d+(.*)\]$/.exec(text) ?? []
        parts.push(body)
        if (note === "") break
        expect(note).toContain(`"part": ${part + 1}`)
      }
      expect(parts.length).toBeGreaterThan(5)
      const lines = parts.join("").split("\n")
      expect(lines.filter((line) => line.includes("value"))).toHaveLength(200)
      expect(await call("fetch_more_context", { ...input, part: 99 })).toMatchObject({
        text: expect.stringContaining("error: the reply has")
      })
    })
  })

  it("can still report and end when its calls are used up, and reads nothing after the end", async () => {
    await withTools({ files: { "a.ts": "a = 1\n" }, maxCalls: 2 }, async ({ call, endings, problems }) => {
      const input = { path: "a.ts", reason: "to see" }
      for (const expected of [false, false, true])
        expect((await call("fetch_more_context", input)).isError).toBe(expected)
      expect((await call("report_problem", problem)).text).toBe("recorded")
      expect((await call("publish_summary", { markdown: "Done." })).text).toBe("recorded")
      expect(endings).toEqual([{ _tag: "Summary", markdown: "Done." }])
      expect(await call("fetch_more_context", input)).toMatchObject({
        text: expect.stringContaining("the review has ended")
      })
      expect(problems).toHaveLength(1)
    })
  })

  it("reaches the tools over stdio through the bridge", async () => {
    await withTools({}, async ({ post, problems, root, server }) => {
      const bridge = join(root, "bridge.mjs")
      writeFileSync(bridge, await readStdioBridge())
      // In a sandbox, a port leads to the socket.
      const forward = createServer((client) => {
        const service = connect(server.socket)
        client.pipe(service).pipe(client)
      })
      await new Promise<void>((done) => void forward.listen(0, "127.0.0.1", done))
      const address = forward.address()
      const port = typeof address === "object" ? address?.port : 0
      const child = spawn(process.execPath, [bridge], {
        env: {
          AICR_TOOLS_URL: `http://127.0.0.1:${port}${server.path}`,
          AICR_TOOLS_TOKEN: Redacted.value(server.token)
        }
      })
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      const exchange = async (message: object) => {
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
        return JSON.parse(String((await lines.next()).value))
      }
      const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } }
      expect(await exchange({ id: 1, method: "initialize", params })).toMatchObject({
        id: 1,
        result: { capabilities: {} }
      })
      child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
      const { result } = await exchange({ id: 2, method: "tools/list" })
      expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(toolNames)
      const call = { name: "report_problem", arguments: problem }
      expect(await exchange({ id: 3, method: "tools/call", params: call })).toMatchObject({ id: 3 })
      expect(problems).toEqual([problem])
      const ended = new Promise((done) => child.once("exit", done))
      child.stdin.end()
      expect(await ended).toBe(0)
      forward.close()
      expect((await post("{}")).status).toBeLessThan(500)
    })
  })
})

describe("a hostile agent", () => {
  it("is refused without the token of this pass, before its body is read", async () => {
    await withTools({}, async ({ post, server, called }) => {
      await withTools({}, async (other) => {
        const tokens = ["", "Bearer ", "Bearer x", `Bearer ${Redacted.value(other.server.token)}`, "Basic eDp4"]
        for (const authorization of tokens)
          expect((await post('{"jsonrpc":"2.0","id":1,"method":"ping"}', { authorization })).status).toBe(401)
      })
      const endless = connect(server.socket)
      endless.write("POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n")
      const reply = await new Promise<string>((done) => endless.once("data", (data) => done(String(data))))
      expect(reply).toMatch(/^HTTP\/1.1 401 /)
      expect(called).toEqual([])
    })
  })

  it.each([
    ["another path", "/mcp/", "{}", {}, 404],
    ["a path that leads out", "/mcp/../mcp", "{}", {}, 404],
    ["an encoded path", "/%6dcp", "{}", {}, 404],
    ["no JSON", "/mcp", "{", {}, 400],
    ["deep nesting", "/mcp", `${"[".repeat(50_000)}${"]".repeat(50_000)}`, {}, 413],
    ["a giant body", "/mcp", "x".repeat(5_000_000), {}, 413],
    ["a compressed body", "/mcp", "{}", { "content-encoding": "gzip" }, 415],
    ["a giant batch", "/mcp", JSON.stringify(Array.from({ length: 500 }, () => ({}))), {}, 400],
    ["giant headers", "/mcp", "{}", { "x-a": "x".repeat(60_000) }, 431],
    ["an origin of a page", "/mcp", "{}", { origin: "http://attacker.example" }, 403]
  ] as const)("is refused with %s", async (_, path, body, headers, status) => {
    await withTools({}, async ({ post }) => {
      // The server closes the connection of a body that it does not read, also while it is sent.
      const refused = await post(body, headers, path).catch((error: NodeJS.ErrnoException) => error.code)
      expect(["EPIPE", "ECONNRESET", status]).toContain(typeof refused === "object" ? refused.status : refused)
    })
  })

  it("cannot smuggle a second request behind an ambiguous length", async () => {
    await withTools({}, async ({ called, server }) => {
      const socket = connect(server.socket)
      const token = `authorization: Bearer ${Redacted.value(server.token)}\r\n`
      socket.write(
        `POST /mcp HTTP/1.1\r\nhost: x\r\n${token}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nPOST /mcp HTTP/1.1\r\n\r\n`
      )
      let text = ""
      socket.on("data", (data) => (text += String(data)))
      await new Promise((done) => socket.once("close", done))
      expect(text).toMatch(/^HTTP\/1.1 400 /)
      expect(text.match(/HTTP\/1.1/g)).toHaveLength(1)
      expect(called).toEqual([])
    })
  })

  it("gets no memory for endless handshakes", async () => {
    await withTools({}, async ({ post }) => {
      const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } }
      const hello = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })
      const statuses = []
      for (let at = 0; at < 70; at++) statuses.push((await post(hello)).status)
      expect(statuses.filter((status) => status === 429)).toHaveLength(6)
    })
  })

  it("reaches nothing after the end of the pass, whose folder is gone", async () => {
    let socket = ""
    let token = ""
    let root = ""
    await withTools({}, async (fixture) => {
      socket = fixture.server.socket
      token = Redacted.value(fixture.server.token)
      root = fixture.root
      expect(statSync(dirname(socket)).mode & 0o777).toBe(0o700)
      // A connection that stays open does not delay the end.
      connect(socket).on("error", () => {})
    })
    expect(existsSync(root)).toBe(false)
    const late = overSocket(socket, "/mcp", { headers: { authorization: `Bearer ${token}` } })
    await expect(late).rejects.toMatchObject({ code: "ENOENT" })
  })
})

it("removes the folders of services that were killed, and no others", async () => {
  await withTools({}, async ({ root }) => {
    const gone = join(root, "999999999-0123456789ab-1")
    const unrelated = join(root, "unrelated")
    mkdirSync(gone)
    mkdirSync(unrelated)
    await Effect.runPromise(Effect.scoped(Layer.build(toolServersLayer(root))))
    await waitUntil(() => !existsSync(gone), { describe: () => readdirSync(root).join(", ") })
    expect(existsSync(unrelated)).toBe(true)
    expect(readdirSync(root)).toHaveLength(2)
  })
})
