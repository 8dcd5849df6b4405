/** Defines the records of runs: findings, coverage, cost and publications. */
import { Schema } from "effect"
import { SkipReason } from "../../domain/Coverage.ts"
import { Severity } from "../../domain/Kinds.ts"
import { Side } from "../../domain/Problem.ts"
import { PublicationStatus } from "../../domain/Publication.ts"
import { RunStatus } from "../../domain/Run.ts"
import { change, count, maybe, maybeCount, maybeTime, recordId, targetKey, text, time, workspace } from "./Fields.ts"

/** Fields of every record of a run. */
export const run = {
  id: recordId,
  status: RunStatus,
  reason: maybe("Reason of the status, or of the wait"),
  partial: Schema.Boolean.annotate({ description: "True if a part of the change was not read or not published" }),
  workspace,
  target_key: targetKey,
  ...change,
  base: maybe("Commit that the head was compared with"),
  created_at: time("Time of creation"),
  started_at: maybeTime("Start of the analysis"),
  finished_at: maybeTime("Time of the end"),
  waiting_since: maybeTime("Start of the wait for the host"),
  waiting_until: maybeTime("Time of the next attempt"),
  duration_ms: maybeCount("Milliseconds from start to end"),
  findings: maybeCount("Number of findings"),
  cost_usd: Schema.NullOr(Schema.Finite).annotate({ description: "Cost in US dollars; null if a price is unknown" })
}

export const Run = Schema.Struct(run).annotate({ identifier: "Run", description: "A review" })

/** Fields of a run whose queue entry is read too. */
export const runWithEvents = {
  ...run,
  event_ids: Schema.Array(Schema.String).annotate({
    description: "Ids of the deliveries that it covers, while its queue entry is kept"
  })
}

export const ListedRun = Schema.Struct(runWithEvents).annotate({
  identifier: "ListedRun",
  description: "A review with its deliveries"
})

export const Publication = Schema.Struct({
  id: recordId,
  channel: text("Name of the channel"),
  operation: text("Kind of the operation"),
  status: PublicationStatus,
  attempts: count("Failed writes"),
  not_before: maybeTime("Time of the next attempt"),
  url: maybe("Address of what was posted"),
  error: maybe("Latest error")
}).annotate({ identifier: "Publication", description: "One outbound operation: a comment, a status, an issue" })

const Place = Schema.Struct({
  kind: Schema.Literals(["added", "removed", "unchanged"]),
  old: Schema.Int,
  new: Schema.Int
})

const Anchor = Schema.Struct({
  path: text("Path of the file"),
  old_path: maybe("Path before a rename"),
  side: Side,
  line: count("Last line, 1-based"),
  start: maybeCount("First line, of several"),
  old_line: maybeCount("Line on the old side, if it is unchanged"),
  new_line: maybeCount("Line on the new side, if it is unchanged"),
  range: Schema.optionalKey(Schema.Struct({ first: Place, last: Place }))
}).annotate({ identifier: "Anchor", description: "Position of a finding in the diff" })

export const Finding = Schema.Struct({
  fingerprint: text("Identity, stable under shifted lines and changed wording"),
  file: text("Path of the file, as reported"),
  line: maybeCount("Line, as reported"),
  end_line: maybeCount("Last line, as reported"),
  side: Schema.optionalKey(Side),
  severity: Severity,
  category: text("Category"),
  title: maybe("Title"),
  message: text("Explanation"),
  suggestion: maybe("Replacement of the lines"),
  quote: maybe("Quoted code"),
  confidence: Schema.optionalKey(Schema.Finite.annotate({ description: "Confidence, 0 to 1" })),
  anchor: Schema.NullOr(Anchor).annotate({ description: "Null if the quote is not part of the diff" })
}).annotate({ identifier: "Finding", description: "A problem found by the review" })

const Coverage = Schema.Struct({
  reviewed: Schema.Array(Schema.String).annotate({ description: "Paths of files that were read" }),
  skipped: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      reason: SkipReason,
      rule: maybe("Matching line of the ignore file"),
      unread: Schema.optionalKey(Schema.Boolean),
      read: maybeCount("Changed lines that were read"),
      changed: maybeCount("Changed lines of the file")
    })
  ).annotate({ description: "Files that were not read, with reasons" }),
  lines: count("Changed lines that were read"),
  changed: maybeCount("Changed lines of the files to read"),
  unnamed: Schema.optionalKey(
    Schema.Struct({
      reviewed: Schema.Int,
      skipped: Schema.Record(Schema.String, Schema.Int),
      unread: Schema.Int
    })
  ).annotateKey({ description: "Counts of files that are not named, because there are too many" })
}).annotate({ identifier: "Coverage", description: "What was read and what was not" })

export const RunDetails = Schema.Struct({
  ...runWithEvents,
  config_hash: text("Hash of the configuration of the run"),
  entry_id: text("Id of its queue entry"),
  timeline: Schema.Array(Schema.Struct({ at: Schema.String, what: Schema.String })).annotate({
    description: "States with their times"
  }),
  summary: maybe("Summary in Markdown"),
  findings: Schema.Array(Finding),
  coverage: Schema.optionalKey(Coverage),
  notices: Schema.Array(Schema.String).annotate({ description: "Truncation, dropped problems, fallbacks" }),
  models: Schema.Array(Schema.String).annotate({ description: "Models in order of first use, as provider/model" }),
  usage: Schema.optionalKey(
    Schema.Struct({
      requests: Schema.Int,
      input_tokens: Schema.Int,
      output_tokens: Schema.Int,
      cached_tokens: Schema.Int,
      cost_usd: Schema.NullOr(Schema.Finite)
    })
  ),
  publications: Schema.Array(Publication),
  ignored_dismissals: Schema.Array(
    Schema.Struct({ fingerprint: Schema.String, file: Schema.String, by: Schema.Array(Schema.String) })
  ).annotate({ description: "Problems dismissed by people without permission: they stay open" })
}).annotate({ identifier: "RunDetails", description: "A review with findings, coverage, cost and publications" })
