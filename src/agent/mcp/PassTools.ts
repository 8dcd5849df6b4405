/** The tools of a pass as an MCP endpoint offers them. */
import { searchToolName } from "../tools/SearchTool.ts"
import { listToolSpecs } from "../tools/Tools.ts"
import type { ToolSpec } from "../../llm/Gateway.ts"
import type { McpTool } from "../McpEndpoint.ts"
import { isReport } from "./ToolCalls.ts"
import type { ToolCalls } from "./ToolCalls.ts"
import type { ToolServerRequest } from "./ToolServer.ts"

export const passInstructions =
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

export const passTools = (
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
