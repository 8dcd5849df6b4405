/** A tool server over a checkout in memory, with a session that records what arrives. */
import { mkdtempSync, rmSync } from "node:fs"
import { request as send } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { repositoryReader } from "../../../src/agent/tools/RepositoryReader.ts"
import { ToolServers } from "../../../src/agent/mcp/ToolServer.ts"
import type { OpenToolServer, ToolServerRequest } from "../../../src/agent/mcp/ToolServer.ts"
import { toolServersLayer } from "../../../src/agent/mcp/ToolServersLayer.ts"
import type { Chosen } from "../../../src/agent/tools/Tool.ts"
import { toolNames } from "../../../src/agent/tools/Tools.ts"
import type { ReportedProblem } from "../../../src/domain/Problem.ts"
import { testWorkspace } from "../../harness/TestSnapshot.ts"
import { fakeCheckout, fakeCode } from "../FakeCheckout.ts"

export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

export interface ToolFixture {
  readonly server: OpenToolServer
  readonly root: string
  readonly problems: Array<ReportedProblem>
  readonly endings: Array<Chosen>
  readonly refused: Array<string>
  /** Tools that were called, and `tools/list` where the list was sent. */
  readonly called: Array<string>
  /** Sends raw bytes as the body, with the token unless `headers` replaces it. */
  readonly post: (body: string, headers?: Record<string, string>, path?: string) => Promise<Response>
  /** Calls a tool without a handshake, by the stateless protocol. */
  readonly call: (name: string, input: unknown) => Promise<{ readonly text: string; readonly isError: boolean }>
}

/** Sends a request over a unix socket. */
export const overSocket = (
  socketPath: string,
  path: string,
  { body = "", headers = {}, method = "POST" }: { body?: string; headers?: Record<string, string>; method?: string }
): Promise<Response> =>
  new Promise((done, fail) => {
    const request = send({ socketPath, path, method, headers: { connection: "close", ...headers } }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (part: string) => (text += part))
      response.on("end", () => done({ status: response.statusCode ?? 0, headers: response.headers, text }))
      response.on("error", fail)
    })
    request.on("error", fail)
    request.end(body)
  })

const version = "2026-07-28"
let ids = 0

export const withTools = (
  settings: Partial<ToolServerRequest> & { readonly files?: Readonly<Record<string, string>> },
  use: (fixture: ToolFixture) => Promise<void>
): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), "aicr-tools-"))
  const recorded = {
    problems: [] as Array<ReportedProblem>,
    endings: [] as Array<Chosen>,
    refused: [] as Array<string>
  }
  const called: Array<string> = []
  const { review } = testWorkspace()
  const request: ToolServerRequest = {
    session: {
      report: (problem) => Effect.sync(() => (recorded.problems.push(problem), "recorded")),
      refuse: (error) => Effect.sync(() => void recorded.refused.push(error)),
      maySkip: true,
      end: (chosen) => Effect.sync(() => void recorded.endings.push(chosen)),
      reader: repositoryReader(fakeCheckout(settings.files ?? {}), fakeCode, review.fetch_extra)
    },
    tools: toolNames,
    maxReplyBytes: 8_000,
    maxCalls: 20,
    onCall: (tool) => Effect.sync(() => void called.push(tool)),
    onListed: () => void called.push("tools/list"),
    ...settings
  }
  return Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const server = yield* (yield* ToolServers).open(request)
        const post: ToolFixture["post"] = (body, headers = {}, path = server.path) =>
          overSocket(server.socket, path, {
            body,
            headers: {
              authorization: `Bearer ${Redacted.value(server.token)}`,
              "content-type": "application/json",
              accept: "application/json, text/event-stream",
              ...headers
            }
          })
        const call: ToolFixture["call"] = async (name, input) => {
          const meta = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
            "io.modelcontextprotocol/clientCapabilities": {}
          }
          const message = {
            jsonrpc: "2.0",
            id: ++ids,
            method: "tools/call",
            params: { name, arguments: input, _meta: meta }
          }
          const { text } = await post(JSON.stringify(message), {
            "mcp-protocol-version": version,
            "mcp-method": "tools/call",
            "mcp-name": name
          })
          const { result, error } = JSON.parse(text.replace(/^data: /, ""))
          if (result === undefined) throw new Error(JSON.stringify(error))
          return { text: result.content[0].text, isError: result.isError }
        }
        yield* Effect.promise(() => use({ server, root, ...recorded, called, post, call }))
      })
    ).pipe(
      Effect.provide(toolServersLayer(root)),
      Effect.ensuring(Effect.sync(() => rmSync(root, { recursive: true, force: true })))
    )
  )
}
