/** Defines the events of running reviews. */
import { Schema } from "effect"
import { maybe, maybeCount, maybeReason, time } from "./Fields.ts"

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
  workspace: maybe("Id of the workspace"),
  target_key: maybe("Key of the pull request, branch or issue"),
  run_id: maybe("Id of the run"),
  head: maybe("Commit that is reviewed (started)"),
  pass: maybeCount("Number of the pass of an agent CLI, from 1 (working)"),
  agent: maybe("Mode of the agent CLI (working)"),
  tool_calls: maybeCount("Number of tool calls of the agent so far (working)"),
  input_tokens: maybeCount("Number of input tokens of the pass so far (working)"),
  output_tokens: maybeCount("Number of output tokens of the pass so far (working)"),
  cost_usd: Schema.optionalKey(Schema.Finite).annotate({ description: "Cost of the pass so far (working)" }),
  problems: maybeCount("Number of problems (working, analysed)"),
  models: Schema.optionalKey(Schema.Array(Schema.String)),
  operation: maybe("Kind of the outbound operation (published)"),
  status: maybe("Status of the publication or of the run"),
  url: maybe("Address of what was posted (published)"),
  reason: maybeReason("Reason of the status (finished)")
}).annotate({ identifier: "LiveEvent", description: "An event of a running review" })
export type LiveEventRecord = typeof LiveEvent.Type
