/** Opens the tool servers of passes: MCP over streamable HTTP, each on a socket of its own. */
import { Effect, Layer } from "effect"
import { openPassServer, respondJson, sweepPassServers } from "../socket/PassServer.ts"
import type { PassExchange, PassRefusal } from "../socket/PassServer.ts"
import { newPassToken } from "../socket/PassToken.ts"
import type { McpHandler, McpTool } from "../McpEndpoint.ts"
import { readMessages } from "./McpMessages.ts"
import { isReport, ToolCalls } from "./ToolCalls.ts"
import { ToolServers } from "./ToolServer.ts"
import type { OpenToolServer, ToolServerRequest } from "./ToolServer.ts"
import { measureJson } from "../../domain/JsonShape.ts"
import { searchToolName } from "../tools/SearchTool.ts"
import { listToolSpecs } from "../tools/Tools.ts"
import type { ToolSpec } from "../../llm/Gateway.ts"

/** The tools of a pass as an MCP endpoint offers them. */

const passInstructions =
  "Tools of a code review. Report every problem with report_problems, and end with publish_summary or skip. Long replies are divided into parts."

/** Returns the JSON Schema of a tool; reading tools take the number of a part. */
const inputSchema = ({ name, parameters }: ToolSpec): McpTool["input"] => {
  const properties = { ...(parameters["properties"] as Readonly<Record<string, Readonly<Record<string, unknown>>>>) }
  const part = { type: "integer", description: "Part of a long reply." }
  return {
    ...parameters,
    type: "object",
    properties: isReport(name) ? properties : { ...properties, part }
  }
}

const passTools = (
  calls: ToolCalls,
  { citesRules, tools }: Pick<ToolServerRequest, "citesRules" | "tools">
): ReadonlyArray<McpTool> =>
  listToolSpecs(tools, citesRules).map((spec) => ({
    name: spec.name,
    description: spec.description,
    input: inputSchema(spec),
    isReadOnly: true,
    isOpenWorld: spec.name === searchToolName,
    handle: (input) => calls.call(spec.name, input)
  }))

/** Has room for 500 problems with all fields. */
const perRequest = { depth: 64, values: 10_000 }
const mebibyte = 1024 * 1024

/** Limits of all requests of a pass together. */
const perPass = { requests: 5000, bytes: 64 * mebibyte, values: 500_000 }

interface BudgetRefusal {
  readonly status: 413 | 429
  readonly message: string
}

/**
 * Bounds the work that the messages of one agent cause, before they are parsed: they are parsed and checked on the event loop, and the agent
 * may follow instructions of the change under review. A body of many small values takes seconds to check, and one of long texts does not.
 */
export class MessageBudget {
  #requests = 0
  #bytes = 0
  #values = 0

  /** Counts a body. Returns a refusal if it must not be parsed. */
  refuse(body: Buffer): BudgetRefusal | undefined {
    this.#requests++
    this.#bytes += body.length
    if (this.#requests > perPass.requests || this.#bytes > perPass.bytes || this.#values > perPass.values)
      return { status: 429, message: "the limit of requests of this review is reached; end the review" }
    const values = measureJson(body.toString("latin1"), perRequest)
    if (values === undefined) {
      const { depth, values: maximum } = perRequest
      return { status: 413, message: `a request has at most ${maximum} values, nested at most ${depth} levels deep` }
    }
    this.#values += values
    return undefined
  }
}

const path = "/mcp"
/** Reports have a limit of 500 problems with at most 46 KB each; one call of a model has far less. */
const maxBodyBytes = 4 * 1024 * 1024
const maxConcurrent = 16
/** Each handshake costs memory until the pass ends. Agents need one or two. */
const maxHandshakes = 64

const refusals: Record<PassRefusal, readonly [status: number, message: string]> = {
  unauthorized: [401, "the bearer token is missing or invalid"],
  too_large: [413, `a request has at most ${maxBodyBytes} bytes`],
  busy: [429, `at most ${maxConcurrent} requests may be in progress`],
  unsupported_encoding: [415, "send the body without content-encoding"],
  failed: [500, "the tool server failed"]
}

const error = (message: string) => ({ jsonrpc: "2.0", id: null, error: { code: -32_600, message } })

/** Gives a request to the MCP server and its response to the agent. */
const handleWith = (handler: McpHandler, request: ToolServerRequest) => {
  let handshakes = 0
  const budget = new MessageBudget()
  return (exchange: PassExchange): Effect.Effect<void> =>
    Effect.promise(async (signal) => {
      const { body, headers, method, response } = exchange
      if (exchange.path !== path) return respondJson(response, 404, error("this path does not exist"))
      if (method !== "POST") {
        response.setHeader("allow", "POST")
        return respondJson(response, 405, error("send POST"))
      }
      const refusal = budget.refuse(body)
      if (refusal !== undefined) return respondJson(response, refusal.status, error(refusal.message))
      const messages = readMessages(body.toString("utf8"), request.tools)
      if (!messages.ok) return respondJson(response, 400, error(messages.error))
      if (messages.initialises && ++handshakes > maxHandshakes)
        return respondJson(response, 429, error("too many handshakes; use an existing session"))
      const called = headers["mcp-name"]
      // The header repeats the name of the call.
      const name = typeof called === "string" ? (messages.renamed.get(called) ?? called) : undefined
      const reply = await handler({ headers: { ...headers, "mcp-name": name }, body: messages.text, signal })
      const bytes = Buffer.from(await reply.arrayBuffer())
      if (response.destroyed) return
      response.writeHead(reply.status, {
        ...Object.fromEntries(reply.headers),
        "content-length": bytes.length
      })
      response.end(bytes)
      if (messages.lists && reply.ok) request.onListed()
    })
}

const open = (root: string) =>
  Effect.fn("agent.tools")(function* (request: ToolServerRequest) {
    // Effect's MCP server is loaded with the first agent, not at the start of the service.
    const { openMcpEndpoint } = yield* Effect.promise(() => import("../McpEndpoint.ts"))
    const token = newPassToken()
    const calls = new ToolCalls(request)
    const handler = yield* openMcpEndpoint({
      instructions: passInstructions,
      path,
      tools: passTools(calls, request)
    })
    const socket = yield* openPassServer(
      {
        root,
        name: "tools.sock",
        token,
        maxBodyBytes,
        maxConcurrent,
        refuse: (reason) => {
          const [status, message] = refusals[reason]
          return { status, body: error(message) }
        }
      },
      handleWith(handler, request)
    )
    const server: OpenToolServer = { socket, path, token, counts: Effect.sync(() => calls.counts) }
    return server
  })

/** `root` is a folder of this node alone. */
export const toolServersLayer = (root: string): Layer.Layer<ToolServers> =>
  Layer.effect(ToolServers, Effect.as(sweepPassServers(root), ToolServers.of({ open: open(root) })))
