/** The table of the tools that models and agents are offered: one row per tool. The native loop and a tool server use the same rows. */
import type { ToolSpec } from "../../llm/Gateway.ts"
import { readReports } from "./ReportForms.ts"
import { readTools } from "./ReadTools.ts"
import { decodeReports, reportTools } from "./ReportTools.ts"
import { searchTools } from "./SearchTool.ts"
import type { Decoded, Tool } from "./Tool.ts"

const tools: ReadonlyMap<string, Tool> = new Map(Object.entries({ ...reportTools, ...readTools, ...searchTools }))

/** Names of the tools that every model and agent is offered. */
export const toolNames: ReadonlyArray<string> = Object.keys({ ...reportTools, ...readTools })

/** Returns the tools as models get them. With `citesRules` a report has a field for the id of a rule. */
export const listToolSpecs = (offered: ReadonlyArray<string>, citesRules = false): ReadonlyArray<ToolSpec> =>
  [...tools].flatMap(([name, { description, parameters, citingParameters }]) =>
    offered.includes(name)
      ? [{ name, description, parameters: (citesRules ? citingParameters : undefined) ?? parameters }]
      : []
  )

export const toolSpecs: ReadonlyArray<ToolSpec> = listToolSpecs(toolNames)

/** Words in names of tools of other agents, which read, plan or end: their calls report nothing. */
const otherWords: ReadonlySet<string> = new Set(
  "bash blame cat done end exec exit fetch find finish get glob grep list look ls plan read run search shell show stop think todo tree view web".split(
    " "
  )
)

/** Returns whether a call of an unknown tool may be a report. What is not known to be another call may be one. */
export const mayReport = (name: string): boolean =>
  !name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => otherWords.has(word))

/** A call of an unknown tool whose input is a report is one. Otherwise the reports that may be in it are refused with it. */
const decodeUnknown = (name: string, input: unknown, offered: ReadonlyArray<string>): Decoded => {
  const { reports } = readReports(input)
  if (reports.some(({ ok }) => ok)) return decodeReports(input)
  const error = `unknown tool; the tools are ${offered.join(", ")}`
  return {
    ok: false,
    error,
    ...(mayReport(name) ? { reports: reports.flatMap((read) => (read.ok ? [] : [read.sketch])) } : {})
  }
}

/** Decodes a call. `name` is the offered name. */
export const decodeToolCall = (name: string, input: unknown, offered: ReadonlyArray<string> = toolNames): Decoded =>
  (offered.includes(name) ? tools.get(name)?.decode(input) : undefined) ?? decodeUnknown(name, input, offered)
