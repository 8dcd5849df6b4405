/** Defines the records of runs: findings, coverage, cost and publications. */
import { Schema } from "effect"
import { ModelUsage as StoredModelUsage, RefutedFinding as StoredRefuted } from "../../domain/Analysis.ts"
import { Coverage as StoredCoverage, SkippedFile } from "../../domain/Coverage.ts"
import { structFields, time as timeField } from "../../domain/Field.ts"
import { FindingState } from "../../domain/FindingState.ts"
import { Anchor as StoredAnchor, ReportedProblem } from "../../domain/Problem.ts"
import { DatedPublication, StatusState } from "../../domain/Publication.ts"
import { FindingRound as StoredFindingRound } from "../../domain/Round.ts"
import { RuleUse } from "../../domain/RuleUse.ts"
import { ReplyOutcome } from "../../domain/CommentReply.ts"
import { DatedOutcome, ListedOutcome } from "../../store/Outcomes.ts"
import { RunLogLine } from "../../domain/RunLogLine.ts"
import { RunSpan, spanAttributes } from "../../domain/RunSpan.ts"
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
  team: "Team that the workspace had when the run began",
  targetKey: "Key of the pull request, branch or issue",
  base: "Commit that the head was compared with",
  createdAt: "Time of creation",
  startedAt: "Start of the analysis",
  finishedAt: "Time of the end",
  waitingSince: "Start of the wait for the host",
  waitingUntil: "Time of the next attempt"
})
const cost_usd = Schema.NullOr(Schema.Finite).annotate({
  description: "Cost in US dollars; null if a price is unknown"
})

export const run = {
  ...storedRun.fields,
  ...change,
  duration_ms: maybeCount("Milliseconds from start to end"),
  findings: maybeCount("Number of findings"),
  round: maybeCount("Number of the round of a pull request; a review that reads nothing starts none"),
  late: maybeCount("Number of late findings, which are not posted and do not count"),
  credentials: maybeCount("Number of leaked credentials among the findings; absent without any"),
  folded: maybeCount("Number of folded findings, which are not posted and do not count; absent without any"),
  private: maybeCount(
    "Number of findings that only maintainers got, part of `findings` unless dismissed; absent without any"
  ),
  cost_usd
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
  operation: text("Kind of the operation"),
  comments: maybeCount("Number of comments at lines that it wrote; absent for other operations")
}).annotate({ identifier: "Publication", description: "One outbound operation: a comment, a status, an issue" })

export const anchor = shown(structFields(StoredAnchor), {
  path: "Path of the file",
  oldPath: "Path before a rename",
  side: "Side of the diff",
  line: "Last line, 1-based",
  start: "First line, of several",
  oldLine: "Line on the old side, if it is unchanged",
  newLine: "Line on the new side, if it is unchanged",
  range: "First and last line of several, with their numbers on both sides"
})
const Anchor = Schema.Struct(anchor.fields).annotate({
  identifier: "Anchor",
  description: "Position of a finding in the diff"
})

export const problem = shown(structFields(ReportedProblem), {
  file: "Path of the file, as reported",
  line: "Line, as reported",
  end_line: "Last line, as reported",
  side: "Side of the diff, as reported",
  severity: "Severity",
  category: "Category",
  title: "Title",
  message: "Explanation",
  suggestion: "Replacement of the lines",
  quote: "Quoted code",
  confidence: "Confidence, 0 to 1",
  rule: "Id of the rule of the repository that it breaks"
})
export const findingRound = shown(structFields(StoredFindingRound), {
  kind: "`new`: a line of it changed since the last review, or no earlier round read it. `late`: an earlier round read all of its lines. `carried`: an earlier round reported it",
  since: "Round that reported it first",
  missed: "First round that had read all of its lines, of one that was late"
})

const finding = {
  fingerprint: text("Identity, stable under shifted lines and changed wording"),
  ...problem.fields,
  round: Schema.optionalKey(
    Schema.Struct(findingRound.fields).annotate({
      identifier: "FindingRound",
      description: "How a finding relates to earlier rounds"
    })
  ),
  probe: Schema.optionalKey(
    Schema.Literal(true).annotate({
      description: "Its kind is folded, and it is shown to find out whether people accept such findings by now"
    })
  ),
  fact: Schema.optionalKey(
    Schema.Literal("credential").annotate({
      description: "It was found without a model: a credential in an added line"
    })
  ),
  anchor: Schema.NullOr(Anchor).annotate({ description: "Null if the quote is not part of the diff" })
}

export const Finding = Schema.Struct(finding).annotate({
  identifier: "Finding",
  description: "A problem found by the review"
})

/** A finding of a change over all of its reviews. */
const changeFinding = shown(DatedOutcome, {
  fingerprint: "Identity of the finding within the change",
  severity: "Severity",
  category: "Category",
  title: "First line of its title",
  path: "Path of its file on the newest head that had it",
  private: "Digest that names it if only maintainers got it: it has neither title nor path then",
  head: "Newest reviewed head that had it",
  outcome: "State",
  replied: "True once a person replied to its comment",
  settled: "End of the change at which it was decided; absent while the change is open",
  foundIn: "Id of the run that found it first",
  foundAt: "Time at which that run was published",
  decidedIn: "Id of the run that decided the state last",
  decidedAt: "Time of that decision"
})
export const changeFindingView = changeFinding.view
export const ChangeFinding = Schema.Struct({
  ...changeFinding.fields,
  number: maybeCount("Number in the summary of the change"),
  url: maybe("Address of its comment, or of its lines, at the host")
}).annotate({ identifier: "ChangeFinding", description: "A finding of a change and its state after all reviews" })

export const outcome = shown(DatedOutcome, {
  replied: "True once a person replied to its comment",
  dismissedBy: "Who dismissed it: a maintainer may write to the repository and did not open the change",
  settled: "End of the change at which it was decided; absent while the change is open",
  settledAt: "Time of that decision",
  mergedBy: "Who merged the change, as above; absent if it was not merged, and where the host names nobody",
  foundIn: "Id of the run that found it first",
  foundAt: "Time at which that run was published",
  decidedIn: "Id of the run that decided the outcome last; the end of the change decides without a run",
  decidedAt: "Time of the outcome"
})
export const listedOutcome = shown(ListedOutcome, {
  targetKey: "Key of the pull request",
  fingerprint: "Identity of the finding within the pull request",
  repository: "Trigger and repository, as `trigger:owner/name`",
  category: "Category, as the model named it",
  severity: "Severity",
  title: "First line of its title",
  path: "Path of its file on the newest head that had it",
  private: "Digest that names it if only maintainers got it: it has neither title nor path then",
  head: "Newest reviewed head that had it",
  agent: "Agent mode of the review that found it",
  model: "Model that found it, as provider/model",
  outcome: "What became of it",
  replied: "True once a person replied to its comment",
  dismissedBy: "Who dismissed it: a maintainer may write to the repository and did not open the change",
  settled: "End of the change at which it was decided; absent while the change is open",
  settledAt: "Time of that decision",
  mergedBy: "Who merged the change, as above; absent if it was not merged, and where the host names nobody",
  settledHead: "Commit at which it was decided then",
  baseRef: "Branch that the change was to be merged to",
  later: "Whether its code was changed within the month after the merge, as far as it could be read",
  foundIn: "Id of the run that found it first",
  foundAt: "Time at which that run was published",
  decidedAt: "Time of the outcome"
})
export const ListedOutcomeRecord = Schema.Struct(listedOutcome.fields).annotate({
  identifier: "ListedOutcome",
  description: "A finding of a pull request and what became of it"
})

const Outcome = Schema.Struct({ status: FindingState, ...outcome.fields }).annotate({
  identifier: "FindingOutcome",
  description: "What became of a finding of a pull request"
})

/** The question or the objection of a person about a finding, and what came of it. */
const Exchange = Schema.Struct({
  run_id: text("Id of the run that replied"),
  at: time("Creation of that run"),
  author: maybe("Account of the person, if the host names it"),
  question: text("Words of the person, as they were read"),
  outcome: ReplyOutcome.annotate({
    description:
      "replied: to a question; withdrawn: the finding was wrong; kept: it stays; needs_person: people have to decide; limited: a limit was reached; none, unavailable: without words"
  }),
  reply: text("Words of the service; empty if there are none"),
  evidence: Schema.optionalKey(
    Schema.Struct({ path: Schema.String, line: Schema.Int, quote: Schema.String })
  ).annotateKey({ description: "Code at the head that decided" })
}).annotate({ identifier: "Exchange", description: "Words of a person about a finding, and what came of them" })
export type ExchangeRecord = typeof Exchange.Type

const FollowedFinding = Schema.Struct({
  ...finding,
  number: maybeCount("Number in the summary of the change"),
  url: maybe("Address of its comment, or of its lines, at the host"),
  outcome: Schema.optionalKey(Outcome).annotateKey({ description: "Absent until the review is published" }),
  conversation: Schema.optionalKey(Schema.Array(Exchange)).annotateKey({
    description:
      "Conversation about it over all heads of the change, oldest first: of the newest 100 replies of the change"
  })
}).annotate({ identifier: "FollowedFinding", description: "A problem with what people did about it" })

const amounts = shown(structFields(StoredModelUsage), {
  requests: "Number of responses",
  inputTokens: "Input tokens",
  outputTokens: "Output tokens",
  cachedTokens: "Input tokens that were read from the cache of the provider",
  reasoningTokens: "Output tokens of reasoning"
})

const ModelUsage = Schema.Struct({
  model: text("Name, as provider/model"),
  ...amounts.fields,
  cost_usd
}).annotate({ identifier: "RunModelUsage", description: "Usage of one model" })

const { reasoning_tokens: _, ...counts } = amounts.fields
const Usage = Schema.Struct({ ...counts, cost_usd })

export const refuted = shown(structFields(StoredRefuted), {
  reason: "Reason of the model",
  model: "Model that refuted it, as provider/model",
  undecided: "True if verification did not decide about it, and it is not serious enough to be published like that"
})
const Refuted = Schema.Struct({
  finding: Finding,
  ...refuted.fields
}).annotate({ identifier: "RefutedFinding", description: "A problem that verification refuted: it is not published" })

export const skippedFile = shown(structFields(SkippedFile), {
  path: "Path of the file",
  reason: "Reason",
  rule: "Matching line of the ignore file, or the setting that excludes the file",
  unread: "True if the change adds text to it that was not read for a reason other than the configuration",
  read: "Changed lines that were read",
  changed: "Changed lines of the file"
})
export const coverage = shown(structFields(StoredCoverage), {
  reviewed: "Paths of files that were read",
  skipped: "Files that were not read, with reasons",
  lines: "Changed lines that were read",
  changed: "Changed lines of the files to read",
  unusable:
    "What could not be used although the model ended its review; its files do not count as read in full. `report`: reports that could not be read and that the model did not correct",
  blind: "Number of files that were read without what the author writes about the change",
  framed: "Files that were to be read so and were not, because no parser removes it",
  unnamed: "Counts of files that are not named, because there are too many",
  instructions:
    "Sources of instructions in the base branch, with the number of files found and of those that applied. Sources that are not listed were not found. Absent if there is none, or if no model was called"
})
const Coverage = Schema.Struct({
  ...coverage.fields,
  skipped: Schema.Array(Schema.Struct(skippedFile.fields)).annotate({
    description: "Files that were not read, with reasons"
  })
}).annotate({ identifier: "Coverage", description: "What was read and what was not" })

export const appliedRule = shown(structFields(RuleUse), {
  id: "Id of the rule",
  severity: "Least severity of its findings",
  owner: "Owner, as its file names it",
  muted: "True if it was not in the prompt, because too few of its findings were accepted"
})
const AppliedRule = Schema.Struct(appliedRule.fields).annotate({
  identifier: "AppliedRule",
  description: "A rule of the repository that applied to a review"
})

const WithheldText = Schema.Struct({
  channel: text("Name of the channel"),
  operation: text("Kind of the operation"),
  path: maybe("Path of the file"),
  line: maybeCount("Line"),
  text: text("Text in the Markdown of the channel")
})
export type WithheldTextRecord = typeof WithheldText.Type

const Withheld = Schema.Struct({
  texts: Schema.Array(WithheldText).annotate({ description: "What would have been published, in order" }),
  state: Schema.optionalKey(StatusState).annotateKey({ description: "State that the commit would have" }),
  description: maybeReason("Description of that state")
}).annotate({ identifier: "WithheldReview", description: "What a review in shadow would have published" })

const step = spanAttributes
const Step = Schema.Struct({
  at: time("Beginning"),
  what: text(
    "`delivered`, `queue`, `ci`, `checkout`, `plan`, `pass`, `model_call`, `verification`, `summary`, `publication`, or the status at its end"
  ),
  depth: count("Number of steps that it is a part of"),
  id: maybe("Id of the delivery"),
  duration_ms: maybeCount("Milliseconds that a step took"),
  failed: RunSpan.fields.failed.annotateKey({ description: "True of a step that failed or was interrupted" }),
  pass: step.pass.annotateKey({ description: "Number of the pass, from 1" }),
  model: step.model.annotateKey({ description: "Model of a call, as provider/model" }),
  wait_ms: step.wait_ms.annotateKey({
    description:
      "Milliseconds until the last request of a call was sent: for a permit, and for pauses and attempts before it"
  }),
  input_tokens: step.input_tokens.annotateKey({ description: "Input tokens of a call" }),
  cached_tokens: step.cached_tokens.annotateKey({
    description: "Part of them that was read from the provider's cache"
  }),
  output_tokens: step.output_tokens.annotateKey({ description: "Output tokens of a call" }),
  cost_usd: step.cost_usd.annotateKey({ description: "Cost of a call in US dollars; absent if its price is unknown" }),
  channel: step.channel.annotateKey({ description: "Channel of a publication" }),
  operation: step.operation.annotateKey({ description: "Kind of the operation of a publication" })
}).annotate({ identifier: "RunStep", description: "A step of a review with its time" })

export const conclusion = maybeReason(
  "Decision that takes the place of a summary of a model: why no model read the change, what a reply decided, or the decision about an issue"
)

/** Reviews that the verdict of a review also rests on. */
export const runBasis = {
  carried: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        run_id: text("Id of the review"),
        head: text("Commit that it reviewed"),
        models: Schema.Array(Schema.String).annotate({ description: "Models that responded to it" }),
        files: Schema.Int.annotate({ description: "Number of these files" })
      }).annotate({ identifier: "CarriedReview", description: "A review that read files which this one did not" })
    )
  ).annotateKey({ description: "Reviews that read the files with an unchanged patch; absent if it read all" }),
  members: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        number: Schema.Int.annotate({ description: "Number of the pull request" }),
        head: maybe("Commit that was merged, where the group names it"),
        run: maybe("Id of its review; absent without one"),
        state: Schema.optionalKey(
          Schema.Literals(StatusState.literals).annotate({
            description: "State of its verdict; absent without a review"
          })
        )
      }).annotate({ identifier: "GroupMember", description: "A pull request of a merge group" })
    )
  ).annotateKey({ description: "Pull requests of a merge group in the order of merging" })
}

export const RunDetails = Schema.Struct({
  ...runWithEvents,
  ...runBasis,
  config_hash: text("Hash of the configuration of the run"),
  entry_id: text("Id of its queue entry"),
  previous: maybe(
    "Id of the earlier run of the same change with an analysis, which it is compared with unless another is named"
  ),
  timeline: Schema.Array(Step).annotate({
    description:
      "Deliveries, steps and the end with their times, oldest first, each step followed by its parts: at most 1000 steps. `storage.retention` limits how long steps are kept"
  }),
  summary: maybe("Summary in Markdown"),
  conclusion,
  skipped: maybeReason("Why there was nothing to review; no summary is posted then"),
  findings: Schema.Array(FollowedFinding),
  refuted: Schema.Array(Refuted),
  late_findings: Schema.Array(Finding).annotate({
    description: "Problems on lines that an earlier round read, below high: only the summary lists them"
  }),
  folded_findings: Schema.Array(
    Schema.Struct({ finding: Finding, why: Reason }).annotate({
      identifier: "FoldedFinding",
      description: "A problem of a kind that people of the repository rarely accept"
    })
  ).annotate({ description: "Problems of kinds below `review.acceptance_floor`: only the summary lists them" }),
  private_findings: Schema.Array(
    Schema.Struct({
      digest: text("Digest that names it in the statement, and in commands of maintainers"),
      severity: text("Severity"),
      outcome: Schema.optionalKey(Outcome)
    }).annotate({ identifier: "PrivateFinding", description: "A problem that only maintainers got" })
  ).annotate({ description: "Problems that only maintainers got, without anything that they are about" }),
  coverage: Schema.optionalKey(Coverage),
  rules: Schema.Array(AppliedRule).annotate({ description: "Rules of the repository that applied to what was read" }),
  settings: Schema.optionalKey(
    Schema.Struct({
      found: Schema.Boolean.annotate({ description: "False if the base branch has no `.aicr/settings.yaml`" }),
      applied: Schema.Array(Schema.String).annotate({ description: "Names of settings that applied" }),
      not_allowed: Schema.Array(Schema.String).annotate({ description: "Names of those that are not permitted" })
    })
  ).annotateKey({ description: "Settings of the repository; absent if its workspace permits none" }),
  notices: Schema.Array(Reason).annotate({ description: "Truncation, dropped problems, fallbacks" }),
  models: Schema.Array(Schema.String).annotate({ description: "Models in order of first use, as provider/model" }),
  models_used: Schema.Array(ModelUsage).annotate({ description: "Usage by model; empty in records of old versions" }),
  usage: Schema.optionalKey(Usage),
  publications: Schema.Array(Publication),
  withheld: Schema.optionalKey(Withheld).annotateKey({
    description: "What would have been published, if the workspace is in shadow"
  }),
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

export const logLine = shown(
  { fields: { ...structFields(RunLogLine).fields, at: timeField } },
  {
    at: "Time of the line",
    level: "Level",
    message: "Constant text of what happened",
    fields: "What it happened to"
  }
)
export const LogLine = Schema.Struct(logLine.fields).annotate({
  identifier: "LogLine",
  description: "A line of the log of a run"
})
export type LogLineRecord = typeof LogLine.Type
