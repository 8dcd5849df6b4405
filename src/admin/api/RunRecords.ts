/** Defines the records of runs: findings, coverage, cost and publications. */
import { Schema } from "effect"
import { SkipReason, UnusableReason } from "../../domain/Coverage.ts"
import { FindingOutcome } from "../../domain/FindingOutcome.ts"
import { Severity } from "../../domain/Kinds.ts"
import { Side } from "../../domain/Problem.ts"
import { DatedPublication } from "../../domain/Publication.ts"
import { DatedOutcome } from "../../store/Outcomes.ts"
import { Run as StoredRun } from "../../store/Runs.ts"
import { change, count, maybe, maybeCount, maybeReason, targetKey, text, time, workspace } from "./Fields.ts"
import { shown } from "./Shown.ts"
import { Reason } from "../../domain/Reason.ts"

/** Fields of every record of a run. */
export const storedRun = shown(StoredRun, {
  id: "Id, ordered by time",
  status: "State",
  reason: "Reason of the status, or of the wait",
  partial: "True if a part of the change was not read or not published",
  workspace: "Id of the workspace",
  targetKey: "Key of the pull request, branch or issue",
  base: "Commit that the head was compared with",
  createdAt: "Time of creation",
  startedAt: "Start of the analysis",
  finishedAt: "Time of the end",
  waitingSince: "Start of the wait for the host",
  waitingUntil: "Time of the next attempt"
})
export const run = {
  ...storedRun.fields,
  ...change,
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

export const publication = shown(DatedPublication, {
  id: "Id, ordered by time",
  channel: "Name of the channel",
  status: "State",
  attempts: "Failed writes",
  notBefore: "Time of the next attempt",
  url: "Address of what was posted",
  error: "Latest error",
  createdAt: "Time at which it was planned",
  updatedAt: "Time of its latest change"
})
export const Publication = Schema.Struct({
  ...publication.fields,
  operation: text("Kind of the operation")
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

const finding = {
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
}

export const Finding = Schema.Struct(finding).annotate({
  identifier: "Finding",
  description: "A problem found by the review"
})

export const outcome = shown(DatedOutcome, {
  replied: "True once a person replied to its comment",
  foundIn: "Id of the run that found it first",
  foundAt: "Time at which that run was published",
  decidedIn: "Id of the run that decided the outcome",
  decidedAt: "Time of the outcome"
})
const Outcome = Schema.Struct({ status: FindingOutcome, ...outcome.fields }).annotate({
  identifier: "FindingOutcome",
  description: "What became of a finding of a pull request"
})

const FollowedFinding = Schema.Struct({
  ...finding,
  outcome: Schema.optionalKey(Outcome).annotateKey({ description: "Absent until the review is published" })
}).annotate({ identifier: "FollowedFinding", description: "A problem with what people did about it" })

const ModelUsage = Schema.Struct({
  model: text("Name, as provider/model"),
  requests: count("Number of responses"),
  input_tokens: count("Input tokens"),
  output_tokens: count("Output tokens"),
  cached_tokens: count("Input tokens that were read from the cache of the provider"),
  reasoning_tokens: count("Output tokens of reasoning"),
  cost_usd: Schema.NullOr(Schema.Finite).annotate({ description: "Cost in US dollars; null if the price is unknown" })
}).annotate({ identifier: "RunModelUsage", description: "Usage of one model" })

const Refuted = Schema.Struct({
  finding: Finding,
  reason: text("Reason of the model"),
  model: text("Model that refuted it, as provider/model")
}).annotate({ identifier: "RefutedFinding", description: "A problem that verification refuted: it is not published" })

const Coverage = Schema.Struct({
  reviewed: Schema.Array(Schema.String).annotate({ description: "Paths of files that were read" }),
  skipped: Schema.Array(
    Schema.Struct({
      path: Schema.String,
      reason: SkipReason,
      rule: maybe("Matching line of the ignore file, or the setting that excludes the file"),
      unread: Schema.optionalKey(Schema.Boolean),
      read: maybeCount("Changed lines that were read"),
      changed: maybeCount("Changed lines of the file")
    })
  ).annotate({ description: "Files that were not read, with reasons" }),
  lines: count("Changed lines that were read"),
  changed: maybeCount("Changed lines of the files to read"),
  unusable: Schema.optionalKey(
    Schema.Array(Schema.Struct({ reason: UnusableReason, count: count("Number of reports or readings") }))
  ).annotateKey({
    description:
      "What could not be used although the model ended its review; its files do not count as read in full. `report`: reports that could not be read and that the model did not correct; `second_reading`: second readings that failed"
  }),
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
  previous: maybe(
    "Id of the earlier run of the same change with an analysis, which it is compared with unless another is named"
  ),
  timeline: Schema.Array(
    Schema.Struct({
      at: time("Time"),
      what: text("`delivered`, `created`, `started`, `published`, `not_published`, or the status at its end"),
      id: maybe("Id of the delivery or of the publication")
    })
  ).annotate({ description: "Deliveries, states and publications with their times, oldest first" }),
  summary: maybe("Summary in Markdown"),
  conclusion: maybeReason(
    "What is posted in place of a summary of a model: why no model read the change, or the decision about an issue"
  ),
  skipped: maybeReason("Why there was nothing to review; no summary is posted then"),
  findings: Schema.Array(FollowedFinding),
  refuted: Schema.Array(Refuted),
  coverage: Schema.optionalKey(Coverage),
  notices: Schema.Array(Reason).annotate({ description: "Truncation, dropped problems, fallbacks" }),
  models: Schema.Array(Schema.String).annotate({ description: "Models in order of first use, as provider/model" }),
  models_used: Schema.Array(ModelUsage).annotate({ description: "Usage by model; empty in records of old versions" }),
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

export const RunComparison = Schema.Struct({
  run: ListedRun,
  other: ListedRun,
  added: Schema.Array(Finding).annotate({ description: "Problems that only the run has" }),
  kept: Schema.Array(Finding).annotate({ description: "Problems that both have, as the run has them" }),
  removed: Schema.Array(Finding).annotate({ description: "Problems that only the other run has" })
}).annotate({ identifier: "RunComparison", description: "Problems of two reviews of the same change" })

export const ReviewedChange = Schema.Struct({
  target_key: targetKey,
  workspace,
  ...change,
  run: ListedRun
}).annotate({ identifier: "ReviewedChange", description: "A pull request, branch or issue with its newest review" })

export const LogLine = Schema.Struct({
  at: time("Time of the line"),
  level: Schema.Literals(["trace", "debug", "info", "warn", "error", "fatal"]),
  message: text("Constant text of what happened"),
  fields: Schema.Record(Schema.String, Schema.Json).annotate({ description: "What it happened to" })
}).annotate({ identifier: "LogLine", description: "A line of the log of a run" })
export type LogLineRecord = typeof LogLine.Type
