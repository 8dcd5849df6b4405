/** Stand-ins of the model proxy and the tool server for tests of passes: unix sockets, without accounting and without MCP's details. */
import { request as httpRequest, createServer } from "node:http"
import type { IncomingMessage, RequestListener } from "node:http"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Redacted } from "effect"
import { ToolServers } from "../../../src/agent/mcp/ToolServer.ts"
import type { ToolServerRequest } from "../../../src/agent/mcp/ToolServer.ts"
import { ModelProxies } from "../../../src/agent/proxy/ModelProxy.ts"
import type { ModelProxyReport, ModelProxyRequest } from "../../../src/agent/proxy/ModelProxy.ts"
import { refusedText } from "../../../src/agent/tools/Tool.ts"
import { decodeToolCall, toolSpecs } from "../../../src/agent/tools/Tools.ts"
import { noUsage } from "../../../src/domain/Analysis.ts"

const serveOn = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = mkdtempSync(join(tmpdir(), "aicr-fake-"))
      const socket = join(folder, "s.sock")
      const server = createServer(listener)
      await new Promise<void>((done) => server.listen(socket, done))
      return { folder, server, socket }
    }),
    ({ folder, server }) =>
      Effect.promise(async () => {
        server.closeAllConnections()
        await new Promise((done) => server.close(done))
        rmSync(folder, { recursive: true, force: true })
      })
  )

export interface FakeProxyState {
  calls: number
  report?: Partial<ModelProxyReport>
  /** Request of the last proxy that was opened. */
  request?: ModelProxyRequest
}

/** Forwards every request to a fake model. */
export const fakeProxies = (url: string, state: FakeProxyState): Layer.Layer<ModelProxies> =>
  Layer.succeed(
    ModelProxies,
    ModelProxies.of({
      open: (request) =>
        Effect.gen(function* () {
          state.request = request
          const { socket } = yield* serveOn((incoming, response) => {
            state.calls++
            const upstream = httpRequest(`${url}${incoming.url ?? ""}`, {
              method: incoming.method,
              headers: { ...incoming.headers, host: new URL(url).host }
            })
            upstream.on("response", (answer) => {
              response.writeHead(answer.statusCode ?? 502, answer.headers)
              answer.pipe(response)
            })
            upstream.on("error", () => response.destroy())
            response.on("close", () => upstream.destroy())
            incoming.pipe(upstream)
          })
          return {
            socket,
            token: Redacted.make("model-token"),
            model: "fake-model",
            contextWindow: 128_000,
            maxOutputTokens: 8_000,
            report: Effect.sync(() => ({
              usage: { ...noUsage, requests: state.calls },
              models: state.calls > 0 ? ["fake/fake-model"] : [],
              notices: [],
              ...state.report
            }))
          }
        })
    })
  )

const bodyOf = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of incoming) if (Buffer.isBuffer(chunk)) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

interface Parameters {
  readonly protocolVersion: string
  readonly name: string
  readonly arguments: unknown
}

const reply = async (request: ToolServerRequest, method: string, params: Parameters): Promise<unknown> => {
  if (method === "initialize")
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "review", version: "1" }
    }
  if (method === "tools/list") {
    request.onListed()
    return {
      tools: toolSpecs.map(({ description, name, parameters }) => ({ name, description, inputSchema: parameters }))
    }
  }
  if (method !== "tools/call") return {}
  await Effect.runPromise(request.onCall(params.name))
  const decoded = decodeToolCall(params.name, params.arguments)
  const text = decoded.ok ? await Effect.runPromise(decoded.run(request.session)) : refusedText(decoded.error)
  return { content: [{ type: "text", text }], isError: !decoded.ok }
}

/** Request of the last tool server that was opened. */
export const lastToolServer: { request?: ToolServerRequest } = {}

export const fakeToolServers: Layer.Layer<ToolServers> = Layer.succeed(
  ToolServers,
  ToolServers.of({
    open: (request) =>
      Effect.gen(function* () {
        lastToolServer.request = request
        const counts = { calls: 0, refused: 0 }
        const { socket } = yield* serveOn((incoming, response) => {
          const respond = async () => {
            if (incoming.method !== "POST") return response.writeHead(405).end()
            if (incoming.headers.authorization !== "Bearer tools-token") return response.writeHead(401).end()
            const message = JSON.parse(await bodyOf(incoming))
            if (message.id === undefined) return response.writeHead(202).end()
            if (message.method === "tools/call") counts.calls++
            const result = await reply(request, message.method, message.params)
            response.writeHead(200, { "content-type": "application/json" })
            return response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }))
          }
          respond().catch(() => response.destroy())
        })
        return {
          socket,
          path: "/mcp",
          token: Redacted.make("tools-token"),
          counts: Effect.succeed(counts)
        }
      })
  })
)
