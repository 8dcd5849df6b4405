/**
 * Statistics in the JSON of the administration: fields with their definitions, and what is computed from the counts. The same definitions are in
 * docs/statistics.md. Pure.
 */
import { Schema } from "effect"
import { findQuantile } from "./DurationHistogram.ts"
import type { DurationHistogram } from "./DurationHistogram.ts"
import { formatUsd, fromNanos } from "./Money.ts"
import type { RunCounter, RunCounts } from "./RunCounts.ts"

const count = (description: string) => Schema.Int.annotate({ description })
const amount = (description: string) => Schema.NullOr(Schema.Finite).annotate({ description })
const time = (description: string) => Schema.String.annotate({ description })

const RunsJson = Schema.Struct({
  total: count("Runs that ended. A repeated review is another run."),
  succeeded: count("Runs whose review was published, or had nothing to publish."),
  failed: count("Runs that ended with an error, or whose process died."),
  timeout: count("Runs that exceeded their time."),
  cancelled: count("Runs that a person or a newer head cancelled."),
  skipped: count("Runs with nothing to review, or refused by a limit."),
  partial: count("Runs that did not read or publish everything; also counted with their state.")
})

const ProblemsJson = Schema.Struct({
  info: count("Problems of this severity that runs found, again in each run of the same pull request."),
  low: count("As info."),
  medium: count("As info."),
  high: count("As info."),
  critical: count("As info.")
})

const LlmJson = Schema.Struct({
  requests: count("Responses of models, of runs whose analysis was stored."),
  input_tokens: count("Input tokens, with those read from a cache."),
  output_tokens: count("Output tokens, with those of reasoning."),
  cached_tokens: count("Part of the input tokens that was read from the provider's cache."),
  reasoning_tokens: count("Part of the output tokens, as far as the provider reports it.")
})

const DurationJson = Schema.Struct({
  runs: count("Runs that are measured: started, and ended as succeeded, failed or timeout."),
  average_ms: amount("Mean time from start to end, with publishing; null without runs."),
  p95_ms: amount("Time that 95 % of the runs did not exceed, within 4.5 %; null without runs.")
})

const FirstCommentJson = Schema.Struct({
  reviews: count("Reviews that are measured: automatic ones that published a comment, an issue or a message."),
  p50_ms: amount(
    "Time from the admission of the push to the first comment, which half of the reviews did not exceed, within 4.5 %; null without reviews."
  ),
  p90_ms: amount("As p50_ms, for 90 % of the reviews.")
})

const FindingsJson = Schema.Struct({
  published: count(
    "Findings of published reviews of pull requests, and of submitted changes of Perforce and Subversion; each counts once per pull request or branch, when it was found."
  ),
  fixed: count("Of these, accepted: a later commit, or the end of the change, resolved it."),
  dismissed: count("Of these, dismissed by a person with the permission."),
  partly: count("Of these, resolved in part when the change ended."),
  withdrawn: count("Of these, withdrawn, because evidence in the code showed that they were wrong."),
  moved_away: count("Of these, about code that was in another file when the change ended."),
  open_at_merge: count("Of these, in the code that was merged."),
  open: count("Of these, none of that: the change is open, or was closed without a merge."),
  replied: count("Of these, with a reply of a person, whatever the outcome."),
  accepted_rate: amount("fixed / published, from 0 to 1; null without findings."),
  dismissed_rate: amount("dismissed / published; null without findings."),
  replied_rate: amount("replied / published; null without findings.")
})

export const TotalsJson = Schema.Struct({
  runs: RunsJson,
  problems: ProblemsJson,
  issues_created: count("Issues that runs created at the host."),
  files: count("Changed files that were read."),
  lines: count("Changed lines that were read: additions plus deletions."),
  llm: LlmJson,
  cost_usd: amount("Sum over the runs whose cost is known; null if it is known of none that called a model."),
  runs_of_known_cost: count("Runs that called a model and whose cost is part of cost_usd."),
  runs_of_unknown_cost: count("Runs that called a model without a known price: not part of cost_usd."),
  duration: DurationJson,
  first_comment: FirstCommentJson,
  findings: FindingsJson,
  cost_per_accepted_finding_usd: amount(
    "cost_usd / findings.fixed; null without fixed findings, or while a cost is unknown."
  )
})
export type TotalsJson = typeof TotalsJson.Type

const ratio = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((part / whole) * 10_000) / 10_000

/** Rounds to a ten-thousandth of a US dollar. */
const dollars = (nanos: number): number => Number(formatUsd(fromNanos(nanos), 4))

const costOf = (of: (counter: RunCounter) => number) => {
  const isUnknown = of("runs_priced") === 0 && of("runs_unpriced") > 0
  const isComplete = of("runs_unpriced") === 0
  return {
    cost_usd: isUnknown ? null : dollars(of("cost_nanos")),
    runs_of_known_cost: of("runs_priced"),
    runs_of_unknown_cost: of("runs_unpriced"),
    cost_per_accepted_finding_usd:
      isComplete && of("findings_fixed") > 0 ? dollars(of("cost_nanos") / of("findings_fixed")) : null
  }
}

const findingsOf = (of: (counter: RunCounter) => number): TotalsJson["findings"] => {
  const [published, fixed, dismissed, replied] = [
    of("findings"),
    of("findings_fixed"),
    of("findings_dismissed"),
    of("findings_replied")
  ]
  const others = {
    partly: of("findings_partly"),
    withdrawn: of("findings_withdrawn"),
    moved_away: of("findings_moved_away"),
    open_at_merge: of("findings_open_at_merge")
  }
  const decided = Object.values(others).reduce((sum, one) => sum + one, fixed + dismissed)
  return {
    published,
    fixed,
    dismissed,
    ...others,
    open: published - decided,
    replied,
    accepted_rate: ratio(fixed, published),
    dismissed_rate: ratio(dismissed, published),
    replied_rate: ratio(replied, published)
  }
}

export const totalsJson = ({
  counts,
  durations,
  firstComments
}: {
  readonly counts: RunCounts
  readonly durations: DurationHistogram
  readonly firstComments: DurationHistogram
}): TotalsJson => {
  const of = (counter: RunCounter) => counts[counter] ?? 0
  const states = {
    succeeded: of("runs_succeeded"),
    failed: of("runs_failed"),
    timeout: of("runs_timeout"),
    cancelled: of("runs_cancelled"),
    skipped: of("runs_skipped")
  }
  return {
    runs: {
      total: Object.values(states).reduce((sum, runs) => sum + runs, 0),
      ...states,
      partial: of("runs_partial")
    },
    problems: {
      info: of("problems_info"),
      low: of("problems_low"),
      medium: of("problems_medium"),
      high: of("problems_high"),
      critical: of("problems_critical")
    },
    issues_created: of("issues_created"),
    files: of("files"),
    lines: of("lines"),
    llm: {
      requests: of("requests"),
      input_tokens: of("input_tokens"),
      output_tokens: of("output_tokens"),
      cached_tokens: of("cached_tokens"),
      reasoning_tokens: of("reasoning_tokens")
    },
    ...costOf(of),
    duration: {
      runs: of("duration_runs"),
      average_ms: of("duration_runs") === 0 ? null : Math.round(of("duration_ms") / of("duration_runs")),
      p95_ms: findQuantile(durations, 0.95) ?? null
    },
    first_comment: {
      reviews: [...firstComments.values()].reduce((sum, reviews) => sum + reviews, 0),
      p50_ms: findQuantile(firstComments, 0.5) ?? null,
      p90_ms: findQuantile(firstComments, 0.9) ?? null
    },
    findings: findingsOf(of)
  }
}

export const WindowsJson = Schema.Struct({
  all: TotalsJson.annotate({ description: "Since the first run." }),
  today: TotalsJson.annotate({ description: "Since midnight UTC." }),
  week: TotalsJson.annotate({ description: "Since Monday, midnight UTC." }),
  month: TotalsJson.annotate({ description: "Since the first day of the month, midnight UTC." })
})

export const ProjectJson = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  trigger: Schema.String.annotate({ description: "Trigger profile of the repository's host." }),
  repository: Schema.String,
  team: Schema.NullOr(Schema.String).annotate({
    description: "Team of its workspace at its newest run; null without one."
  }),
  last_run_at: time("End of the newest run."),
  deleted_at: Schema.NullOr(
    time("Time since which the workspace or the trigger is no longer configured; null while both are.")
  ),
  ...TotalsJson.fields
})

export const ModelJson = Schema.Struct({
  provider: Schema.String,
  model: Schema.String,
  ...TotalsJson.fields
})

export const PeriodJson = Schema.Struct({
  name: Schema.String.annotate({ description: "Team or workspace; empty for the instance." }),
  ...TotalsJson.fields,
  before: Schema.NullOr(TotalsJson).annotate({
    description: "The same number of days right before the period; null for all time."
  })
})

export const BucketJson = Schema.Struct({ start: time("Start of the hour or day."), ...TotalsJson.fields })
