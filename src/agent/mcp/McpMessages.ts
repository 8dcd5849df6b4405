/** Checks the messages of an agent before the MCP server reads them, and gives tool calls the names of the offered tools. Pure. */
import { resolveToolName } from "../../llm/ToolNames.ts"
import { mayReport } from "../tools/Tools.ts"

/** Tool that takes calls of unknown tools that may be reports, so that they are accepted, or refused and counted. */
const reporting = "report_problems"

/** Maximum number of messages in one request. */
const maxBatch = 32

export type McpMessages =
  | {
      readonly ok: true
      readonly text: string
      readonly initialises: boolean
      /** Whether a message requests the list of tools. */
      readonly lists: boolean
      /** Offered names of the tools by the other names that calls have. */
      readonly renamed: ReadonlyMap<string, string>
    }
  | { readonly ok: false; readonly error: string }

export const readMessages = (body: string, offered: ReadonlyArray<string>): McpMessages => {
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return { ok: false, error: "the body is not JSON" }
  }
  const messages: ReadonlyArray<unknown> = Array.isArray(parsed) ? parsed : [parsed]
  if (messages.length > maxBatch) return { ok: false, error: `a request has at most ${maxBatch} messages` }
  let initialises = false
  let lists = false
  const renamed = new Map<string, string>()
  for (const message of messages) {
    if (!isObject(message)) continue
    if (message["method"] === "initialize") initialises = true
    if (message["method"] === "tools/list") lists = true
    const params = message["params"]
    if (message["method"] !== "tools/call" || !isObject(params)) continue
    const called = params["name"]
    if (typeof called !== "string") continue
    const name = toOfferedName(called, offered)
    if (name === undefined || name === called) continue
    params["name"] = name
    renamed.set(called, name)
  }
  return { ok: true, text: renamed.size > 0 ? JSON.stringify(parsed) : body, initialises, lists, renamed }
}

const toOfferedName = (called: string, offered: ReadonlyArray<string>): string | undefined =>
  resolveToolName(called, offered) ?? (offered.includes(reporting) && mayReport(called) ? reporting : undefined)

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null
