/**
 * Contract of the tool server, through which an agent CLI uses the tools of a review: MCP over streamable HTTP on a unix socket, and over
 * stdio through a bridge for agents that need it. One server serves one pass, with a token of its own and the tools of `Tools.ts`.
 */
import { Context } from "effect"
import type { Effect, Redacted, Scope } from "effect"
import type { AgentError } from "../Agent.ts"
import type { ToolSession } from "../tools/Tool.ts"

export interface ToolServerRequest {
  /**
   * Object of the calls. `report` has stored a problem before the reply is sent, so that a later crash of the agent loses nothing.
   */
  readonly session: ToolSession
  /** Names of the offered tools. A name with a prefix of the server, or with swapped dots and underscores, is accepted too. */
  readonly tools: ReadonlyArray<string>
  /** Whether a report has a field for the id of a rule. Default: false. */
  readonly citesRules?: boolean | undefined
  /** Maximum length of one reply in bytes. A longer one is divided, with a note on how to get the next part. */
  readonly maxReplyBytes: number
  /** Maximum number of calls. Further ones are refused, and reports are still accepted. */
  readonly maxCalls: number
  /** Called at each call, for the progress of the run. */
  readonly onCall: (tool: string) => Effect.Effect<void>
  /** Called when the agent has received the list of tools. */
  readonly onListed: () => void
}

export interface OpenToolServer {
  /** Absolute path of the unix socket, for `SandboxRequest.sockets.tools`. */
  readonly socket: string
  /** Path of the MCP endpoint below `http://127.0.0.1:<toolsPort>`. */
  readonly path: string
  /** Bearer token of this pass. It is void when the scope closes. */
  readonly token: Redacted.Redacted
  /** Returns how many calls arrived, and how many of them were not accepted. */
  readonly counts: Effect.Effect<{ readonly calls: number; readonly refused: number }>
}

export class ToolServers extends Context.Service<
  ToolServers,
  { readonly open: (request: ToolServerRequest) => Effect.Effect<OpenToolServer, AgentError, Scope.Scope> }
>()("aicr/agent/mcp/ToolServers") {}
