/** Defines the events of running reviews. */
import { Schema } from "effect"
import { optionalFields, structFields, text } from "../../domain/Field.ts"
import { ProgressEvent } from "../../observability/Progress.ts"
import { time } from "./Fields.ts"
import { shown } from "./Shown.ts"

const [started, , working, analysed, published, finished] = ProgressEvent.members

/** Findings are in the records only. */
export const progress = shown(
  {
    fields: optionalFields({
      ...structFields(started).fields,
      ...structFields(working).fields,
      ...structFields(analysed).fields,
      ...structFields(published).fields,
      ...structFields(finished).fields,
      status: text
    })
  },
  {
    workspace: "Id of the workspace",
    targetKey: "Key of the pull request, branch or issue",
    runId: "Id of the run",
    head: "Commit that is reviewed (started)",
    pass: "Number of the pass of an agent CLI, from 1 (working)",
    agent: "Mode of the agent CLI (working)",
    toolCalls: "Number of tool calls of the agent so far (working)",
    inputTokens: "Number of input tokens of the pass so far (working)",
    outputTokens: "Number of output tokens of the pass so far (working)",
    costUsd: "Cost of the pass so far (working)",
    problems: "Number of problems (working, analysed)",
    models: "Models (analysed)",
    operation: "Kind of the outbound operation (published)",
    status: "Status of the publication or of the run",
    url: "Address of what was posted (published)",
    reason: "Reason of the status (finished)"
  }
)

export const LiveEvent = Schema.Struct({
  type: Schema.Literals([
    "heartbeat",
    "started",
    "checked_out",
    "working",
    "analysed",
    "published",
    "finished"
  ]).annotate({
    description: "What happened; a heartbeat is sent every 15 seconds"
  }),
  at: time("Time"),
  ...progress.fields
}).annotate({ identifier: "LiveEvent", description: "An event of a running review" })
export type LiveEventRecord = typeof LiveEvent.Type
