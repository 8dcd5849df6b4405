/** The MCP endpoint of one pass: Effect's `McpServer` with the rows of the tool table, as a handler of web requests. */
import { Context, Effect, Layer } from "effect"
import { McpProtocol, McpSchema, McpServer } from "effect/ai"
import { HttpRouter, HttpServer } from "effect/http"
import { AgentError } from "../Agent.ts"
import { searchToolName } from "../tools/SearchTool.ts"
import { listToolSpecs } from "../tools/Tools.ts"
import type { ToolSpec } from "../../llm/Gateway.ts"
import { isReport } from "./ToolCalls.ts"
import type { ToolCalls } from "./ToolCalls.ts"

const instructions =
  "Tools of a code review. Report every problem with report_problems, and end with publish_summary or skip. Long replies are divided into parts."

/** Returns the JSON Schema of a tool; reading tools take the number of a part. */
const inputSchema = ({ name, parameters }: ToolSpec): McpSchema.ToolJson => {
  const properties = { ...(parameters["properties"] as Readonly<Record<string, Readonly<Record<string, unknown>>>>) }
  const part = { type: "integer", description: "Part of a long reply." }
  return {
    ...parameters,
    type: "object",
    properties: isReport(name) ? properties : { ...properties, part }
  }
}

/** Registers the offered tools. */
const registrations = (calls: ToolCalls, offered: ReadonlyArray<string>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const server = yield* McpServer.McpServer
      for (const spec of listToolSpecs(offered)) {
        const { description, name } = spec
        yield* server.addTool({
          tool: new McpSchema.Tool({
            name,
            description,
            inputSchema: inputSchema(spec),
            annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: name === searchToolName }
          }),
          annotations: Context.empty(),
          handle: (input: unknown) =>
            Effect.map(
              calls.call(name, input ?? {}),
              ({ isError, text }) => new McpSchema.CallToolResult({ content: [{ type: "text", text }], isError })
            )
        })
      }
    })
  )

export type McpHandler = (request: Request) => Promise<Response>

/** Builds the endpoint, which ends with the scope. */
export const openMcpEndpoint = Effect.fnUntraced(function* (
  calls: ToolCalls,
  offered: ReadonlyArray<string>,
  path: `/${string}`
) {
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
    registrations: registrations(calls, offered)
  }).pipe(Layer.provide(HttpServer.layerServices))
  const { dispose, handler } = HttpRouter.toWebHandler(layer, { disableLogger: true })
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  // Builds the server before the agent starts.
  yield* Effect.tryPromise({
    try: () => handler(new Request(`http://127.0.0.1${path}`)),
    catch: (cause) => new AgentError({ reason: "failed", why: { _tag: "ToolServerFailed", cause: String(cause) } })
  })
  const handle: McpHandler = (request) => handler(request)
  return handle
})
