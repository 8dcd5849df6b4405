/**
 * Records of what an agent CLI did in one pass, written when it happens, so that neither a crash of the agent nor one of the service loses it. A pass
 * with an end is not repeated by a later attempt at the same review; one without an end is repeated, and keeps its problems.
 */
import { Schema } from "effect"
import { noUsage, Usage } from "./Analysis.ts"
import { ReportedProblem } from "./Problem.ts"
import { ReportSketch } from "./ReportSketch.ts"
import type { RecordedProblem, RefusedReport } from "./ReportSketch.ts"

/** A query that was sent to a search provider, and how that ended. */
export const SearchRecord = Schema.Struct({ query: Schema.String, provider: Schema.String, status: Schema.String })
export type SearchRecord = typeof SearchRecord.Type

const spent = { models: Schema.Array(Schema.String), usage: Usage }

export const AgentPassRecord = Schema.Union([
  /** `round`: number of model responses until then. Absent in records of earlier versions. */
  Schema.TaggedStruct("Problem", { problem: ReportedProblem, round: Schema.optional(Schema.Int) }),
  /** A report that was not accepted, as far as it could be read. */
  Schema.TaggedStruct("Refused", { report: ReportSketch, round: Schema.Int }),
  Schema.TaggedStruct("Search", SearchRecord.fields),
  /** The end as requested by the model, with what was spent until then. */
  Schema.TaggedStruct("Summary", { ...spent, markdown: Schema.String }),
  Schema.TaggedStruct("Skip", { ...spent, reason: Schema.String }),
  /** The expense so far, written after each model call. */
  Schema.TaggedStruct("Spent", spent)
])
export type AgentPassRecord = typeof AgentPassRecord.Type

type PassEnd = Extract<AgentPassRecord, { readonly _tag: "Summary" | "Skip" }>

/** State of a pass by its records, over all attempts. */
export interface RestoredPass {
  readonly problems: ReadonlyArray<RecordedProblem>
  readonly refused: ReadonlyArray<RefusedReport>
  /** A summary takes precedence over a request to skip. */
  readonly end: PassEnd | undefined
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
  /** Number of queries that were sent to search providers. */
  readonly searches: number
}

/** Joins records, which are in the order of their writing. */
export const restorePass = (records: ReadonlyArray<AgentPassRecord>): RestoredPass => {
  const ends = records.filter((record): record is PassEnd => record._tag === "Summary" || record._tag === "Skip")
  const total = records.findLast(
    (record) => record._tag !== "Problem" && record._tag !== "Refused" && record._tag !== "Search"
  )
  return {
    problems: records.flatMap((record) =>
      record._tag === "Problem" ? [{ problem: record.problem, round: record.round ?? 0 }] : []
    ),
    refused: records.flatMap((record) =>
      record._tag === "Refused" ? [{ ...record.report, round: record.round }] : []
    ),
    end: ends.find(({ _tag }) => _tag === "Summary") ?? ends[0],
    models: total?.models ?? [],
    usage: total?.usage ?? noUsage,
    searches: records.filter(({ _tag }) => _tag === "Search").length
  }
}
