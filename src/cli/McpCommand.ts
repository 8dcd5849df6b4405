/**
 * Implements `aicr mcp`: an MCP server over stdio for a coding agent, which forwards each message to `/mcp` of a service. Address and token come from
 * the environment, so that they are in no list of processes. The function that forwards is a parameter.
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { digestToken } from "../domain/ServiceToken.ts"
import { refused } from "./Exit.ts"
import type { ExitWith } from "./Exit.ts"

/** Ends when the agent closes standard input. */
export type ForwardMessages = (url: string, token: string) => Effect.Effect<void, ExitWith>

export const mcpCommand = (runs: Effect.Effect<{ readonly forwardMessages: ForwardMessages }>) =>
  Command.make(
    "mcp",
    {},
    Effect.fnUntraced(function* () {
      const { AICR_TOKEN: token = "", AICR_URL: address = "" } = process.env
      if (address === "")
        return yield* refused("set AICR_URL to the address of the service, such as https://aicr.example.com")
      if (digestToken(token) === undefined)
        return yield* refused("set AICR_TOKEN to a token of the service (aicr token create NAME --scope read)")
      // Loads the client of the administration.
      const { serviceAt } = yield* Effect.promise(() => import("./AdminSession.ts"))
      const { url } = yield* serviceAt(address, "AICR_URL")
      const { forwardMessages } = yield* runs
      yield* forwardMessages(`${url}/mcp`, token)
    })
  ).pipe(
    Command.withDescription(
      "Serve the tools for coding agents over stdio (MCP): wait_for_review, list_findings, explain, dispute, status. Set AICR_URL and AICR_TOKEN"
    ),
    Command.withExamples([
      {
        command: "AICR_URL=https://aicr.example.com AICR_TOKEN=aicr-token-… aicr mcp",
        description: "As the command of an MCP server in the settings of an agent"
      }
    ])
  )
