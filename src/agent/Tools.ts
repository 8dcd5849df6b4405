/** The table of the tools that every model and agent is offered: one row per tool. The native loop and a tool server use the same rows. */
import type { ToolSpec } from "../llm/Gateway.ts"
import { readReports } from "./ReportForms.ts"
import { readTools } from "./ReadTools.ts"
import { decodeReports, reportTools } from "./ReportTools.ts"
import type { Decoded, Tool } from "./Tool.ts"

const tools: ReadonlyMap<string, Tool> = new Map(Object.entries({ ...reportTools, ...readTools }))

export const toolSpecs: ReadonlyArray<ToolSpec> = [...tools].map(([name, { description, parameters }]) => ({
  name,
  description,
  parameters
}))
export const toolNames: ReadonlyArray<string> = [...tools.keys()]

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
const decodeUnknown = (name: string, input: unknown): Decoded => {
  const { reports } = readReports(input)
  if (reports.some(({ ok }) => ok)) return decodeReports(input)
  const error = `unknown tool; the tools are ${toolNames.join(", ")}`
  return {
    ok: false,
    error,
    ...(mayReport(name) ? { reports: reports.flatMap((read) => (read.ok ? [] : [read.sketch])) } : {})
  }
}

/** Decodes a call. `name` is the offered name. */
export const decodeToolCall = (name: string, input: unknown): Decoded =>
  tools.get(name)?.decode(input) ?? decodeUnknown(name, input)
