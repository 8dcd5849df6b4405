/**
 * Counts of ended runs. Every count is additive: those of a period are the sum of those of its parts, and those of an instance the sum of
 * those of its projects. Definitions for readers: docs/statistics.md. Pure.
 */
import { countedSeverities } from "./Analysis.ts"
import type { Analysis, ModelUsage } from "./Analysis.ts"
import { countReviewed } from "./Coverage.ts"
import { findSlot } from "./DurationHistogram.ts"
import type { FindingState } from "./FindingState.ts"
import { toNanos } from "./Money.ts"
import type { Usd } from "./Money.ts"
import type { RunStatus } from "./Run.ts"

/** Names of counts, and of their columns. */
export const runCounters = [
  "runs_succeeded",
  "runs_failed",
  "runs_timeout",
  "runs_cancelled",
  "runs_skipped",
  /** Runs that did not read or publish everything; counted with their state too. */
  "runs_partial",
  "problems_info",
  "problems_low",
  "problems_medium",
  "problems_high",
  "problems_critical",
  "issues_created",
  "files",
  "lines",
  "requests",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "reasoning_tokens",
  /** Billionths of a US dollar, of runs whose cost is known. */
  "cost_nanos",
  /** Runs that called a model: their cost is known, or unknown. */
  "runs_priced",
  "runs_unpriced",
  /** Sum of durations, and the number of runs that it is of. */
  "duration_ms",
  "duration_runs",
  /** Findings on pull requests, and their outcomes. */
  "findings",
  "findings_fixed",
  "findings_dismissed",
  "findings_replied",
  "findings_partly",
  "findings_withdrawn",
  "findings_moved_away",
  "findings_open_at_merge"
] as const
export type RunCounter = (typeof runCounters)[number]
export type RunCounts = Readonly<Partial<Record<RunCounter, number>>>

export const addCounts = (a: RunCounts, b: RunCounts): RunCounts => {
  const sum: Partial<Record<RunCounter, number>> = { ...a }
  for (const counter of runCounters) {
    const more = b[counter]
    if (more !== undefined) sum[counter] = (sum[counter] ?? 0) + more
  }
  return sum
}

type EndStatus = Extract<RunStatus, "succeeded" | "failed" | "timeout" | "cancelled" | "skipped">

/** Facts about a run at its end. */
export interface EndedRun {
  /** A reply to a comment: only what it used is counted. */
  readonly isReply: boolean
  readonly status: EndStatus
  readonly partial: boolean
  readonly startedAt?: number | undefined
  readonly finishedAt: number
  readonly analysis?: Pick<Analysis, "findings" | "dismissed" | "coverage" | "models" | "usage"> | undefined
  readonly issuesCreated: number
  /** Milliseconds from the admission of an automatic review to its first comment; undefined without one. */
  readonly firstCommentMillis?: number | undefined
  /** Amount of the ledger for the run, in billionths of a US dollar; undefined if it reserved nothing. */
  readonly ledgerNanos: number | undefined
  /** True if a model may have been called, as far as its states show. */
  readonly mayHaveCalled: boolean
}

/** Durations of which histograms are kept: of the run, and from its admission to its first comment. */
export const durationMeasures = ["run", "first_comment"] as const
export type DurationMeasure = (typeof durationMeasures)[number]
/** Slot of each duration of a run (DurationHistogram.ts). */
export type Slots = Readonly<Partial<Record<DurationMeasure, number>>>

interface RunStatistics {
  readonly counts: RunCounts
  /** Parts by model, as `provider/model`. */
  readonly byModel: ReadonlyMap<string, RunCounts>
  /** Slots of its durations; empty if none is counted. */
  readonly slots: Slots
}

const costCounts = (costUsd: Usd | undefined): RunCounts =>
  costUsd === undefined ? { runs_unpriced: 1 } : { runs_priced: 1, cost_nanos: toNanos(costUsd) }

/** Returns the cost of a run whose analysis was not stored. */
const countLostCost = ({ ledgerNanos, mayHaveCalled }: EndedRun): RunCounts => {
  if (ledgerNanos !== undefined) return { runs_priced: 1, cost_nanos: ledgerNanos }
  return mayHaveCalled ? { runs_unpriced: 1 } : {}
}

const countUsage = (usage: ModelUsage): RunCounts => ({
  requests: usage.requests,
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  cached_tokens: usage.cachedTokens,
  reasoning_tokens: usage.reasoningTokens,
  ...(usage.requests === 0 ? {} : costCounts(usage.costUsd))
})

const countContent = ({ analysis, issuesCreated }: EndedRun): RunCounts => {
  const counts: Partial<Record<RunCounter, number>> = { issues_created: issuesCreated }
  if (analysis === undefined) return counts
  for (const severity of countedSeverities(analysis)) {
    const counter = `problems_${severity}` as const
    counts[counter] = (counts[counter] ?? 0) + 1
  }
  return { ...counts, files: countReviewed(analysis.coverage), lines: analysis.coverage.lines }
}

/** States whose duration counts: of these alone the work was done. */
const timed: ReadonlyArray<EndStatus> = ["succeeded", "failed", "timeout"]

/** Numbers of runs, which a reply does not change. */
const ofRuns: ReadonlySet<RunCounter> = new Set([
  "runs_succeeded",
  "runs_failed",
  "runs_timeout",
  "runs_cancelled",
  "runs_skipped",
  "runs_partial",
  "runs_priced",
  "runs_unpriced",
  "duration_ms",
  "duration_runs"
])

const withoutRuns = (counts: RunCounts): RunCounts => {
  const kept: Partial<Record<RunCounter, number>> = {}
  for (const counter of runCounters)
    if (!ofRuns.has(counter) && counts[counter] !== undefined) kept[counter] = counts[counter]
  return kept
}

/** Returns what a run adds to the statistics when it ends. */
export const countRun = (run: EndedRun): RunStatistics => {
  const counted = countReview(run)
  if (!run.isReply) return counted
  const byModel = new Map([...counted.byModel].map(([model, counts]) => [model, withoutRuns(counts)]))
  return { counts: withoutRuns(counted.counts), byModel, slots: {} }
}

const countReview = (run: EndedRun): RunStatistics => {
  const { analysis, finishedAt, partial, startedAt, status } = run
  const millis = startedAt === undefined || !timed.includes(status) ? undefined : Math.max(0, finishedAt - startedAt)
  const end: RunCounts = {
    [`runs_${status}`]: 1,
    ...(partial ? { runs_partial: 1 } : {}),
    ...(millis === undefined ? {} : { duration_ms: millis, duration_runs: 1 })
  }
  const content = countContent(run)
  const { firstCommentMillis: waited } = run
  const slots: Slots = {
    ...(millis === undefined ? {} : { run: findSlot(millis) }),
    ...(waited === undefined ? {} : { first_comment: findSlot(waited) })
  }
  if (analysis === undefined) {
    return { counts: [content, countLostCost(run)].reduce(addCounts, end), byModel: new Map(), slots }
  }
  const parts = analysis.usage.byModel ?? {}
  const reasoningTokens = Object.values(parts).reduce((sum, part) => sum + part.reasoningTokens, 0)
  const [first] = analysis.models
  const byModel = new Map(Object.entries(parts).map(([model, part]) => [model, addCounts(end, countUsage(part))]))
  // Content has one author: the model that the outcomes of findings name too.
  if (first !== undefined) byModel.set(first, addCounts(byModel.get(first) ?? end, content))
  return {
    counts: [content, countUsage({ ...analysis.usage, reasoningTokens })].reduce(addCounts, end),
    byModel,
    slots
  }
}

/** Facts about a finding that are counted. */
interface CountedFinding {
  readonly outcome: FindingState
  readonly replied: boolean
}

/** Returns what a change of a finding's outcome adds; `before` is undefined for a finding that was not counted. */
export const countOutcome = (before: CountedFinding | undefined, after: CountedFinding): RunCounts => {
  const difference = (is: (finding: CountedFinding) => boolean) =>
    Number(is(after)) - Number(before !== undefined && is(before))
  const differenceOf = (state: FindingState) => difference(({ outcome }) => outcome === state)
  return {
    findings: before === undefined ? 1 : 0,
    findings_fixed: differenceOf("fixed"),
    findings_dismissed: differenceOf("dismissed"),
    findings_replied: difference(({ replied }) => replied),
    findings_partly: differenceOf("partly"),
    findings_withdrawn: differenceOf("withdrawn"),
    findings_moved_away: differenceOf("moved_away"),
    findings_open_at_merge: differenceOf("open_at_merge")
  }
}
