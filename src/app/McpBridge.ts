/** Forwards the messages of a coding agent on standard input to a service (`aicr mcp`). Wiring only. */
import { Effect } from "effect"
import type { ForwardMessages } from "../cli/McpCommand.ts"

export const forwardMessages: ForwardMessages = (url, token) =>
  Effect.promise(async () => {
    process.env["AICR_TOOLS_URL"] = url
    process.env["AICR_TOOLS_TOKEN"] = token
    // Loading the program runs it.
    const { ended } = await import("../agent/mcp/StdioBridge.ts")
    await ended
  })
