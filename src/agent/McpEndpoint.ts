/** An MCP endpoint over streamable HTTP: Effect's `McpServer` with given tools, as a handler of web requests. */
import { Context, Effect, Layer } from "effect"
import { McpProtocol, McpSchema, McpServer } from "effect/ai"
import { HttpRouter, HttpServer } from "effect/http"
import { AgentError } from "./Agent.ts"

interface McpReply {
  readonly text: string
  readonly isError: boolean
  /** Present if the tool has an output schema, unless it failed. */
  readonly structured?: unknown
}

export interface McpTool {
  readonly name: string
  readonly description: string
  /** JSON Schemas. */
  readonly input: McpSchema.ToolJson
  readonly output?: Readonly<Record<string, unknown>> | undefined
  /** False if a call changes something. */
  readonly isReadOnly: boolean
  /** True if a call reaches the web. */
  readonly isOpenWorld: boolean
  readonly handle: (input: unknown) => Effect.Effect<McpReply>
}

interface McpEndpoint {
  readonly instructions: string
  readonly path: `/${string}`
  readonly tools: ReadonlyArray<McpTool>
}

const register = (tools: ReadonlyArray<McpTool>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* McpServer.McpServer
      for (const { description, handle, input, isOpenWorld, isReadOnly, name, output } of tools) {
        yield* server.addTool({
          tool: new McpSchema.Tool({
            name,
            description,
            inputSchema: input,
            ...(output === undefined ? {} : { outputSchema: output }),
            annotations: { readOnlyHint: isReadOnly, destructiveHint: false, openWorldHint: isOpenWorld }
          }),
          annotations: Context.empty(),
          handle: (given: unknown) =>
            Effect.map(
              handle(given ?? {}),
              ({ isError, structured, text }) =>
                new McpSchema.CallToolResult({
                  content: [{ type: "text", text }],
                  isError,
                  ...(structured === undefined ? {} : { structuredContent: structured })
                })
            )
        })
      }
    })
  )

interface McpCall {
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** Messages in JSON. */
  readonly body: string
  readonly signal?: AbortSignal | undefined
}

export type McpHandler = (call: McpCall) => Promise<Response>

/** Headers that the server reads. */
const passedHeaders = [
  "content-type",
  "accept",
  "origin",
  "mcp-session-id",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name"
]

/** Opens an endpoint, which ends with the scope. */
export const openMcpEndpoint = Effect.fnUntraced(function* ({ instructions, path, tools }: McpEndpoint) {
  const layer = McpServer.layerHttp({
    name: "aicr",
    version: "1",
    instructions,
    path,
    protocols: [
      McpProtocol.v2026_07_28,
      McpProtocol.v2025_11_25,
      McpProtocol.v2025_06_18,
      McpProtocol.v2025_03_26,
      McpProtocol.v2024_11_05
    ],
    allowSubscriptions: false,
    registrations: register(tools)
  }).pipe(Layer.provide(HttpServer.layerServices))
  const { dispose, handler } = HttpRouter.toWebHandler(layer, { disableLogger: true })
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  // Builds the server before the first request.
  yield* Effect.tryPromise({
    try: () => handler(new Request(`http://127.0.0.1${path}`)),
    catch: (cause) => new AgentError({ reason: "failed", why: { _tag: "ToolServerFailed", cause: String(cause) } })
  })
  const handle: McpHandler = ({ body, headers, signal }) => {
    const passed = passedHeaders.flatMap((name): ReadonlyArray<[string, string]> => {
      const value = headers[name]
      return typeof value === "string" ? [[name, value]] : []
    })
    const init = { method: "POST", headers: passed, body, ...(signal === undefined ? {} : { signal }) }
    return handler(new Request(`http://127.0.0.1${path}`, init))
  }
  return handle
})
