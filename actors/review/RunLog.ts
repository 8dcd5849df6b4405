/** Logs the start and the end of runs, with the ids that join the story of a change. */
import { Clock, Effect, Metric } from "effect"
import { countUnread } from "../../src/domain/Coverage.ts"
import { inEventTrace } from "../../src/domain/EventTrace.ts"
import { countedSeverities, listFacts, usageJson } from "../../src/domain/Analysis.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { RunStatus } from "../../src/domain/Run.ts"
import { endSpan } from "../../src/domain/RunSpan.ts"
import * as Metrics from "../../src/observability/Metrics.ts"
import { Queue } from "../../src/queue/Queue.ts"
import type { Run } from "../../src/store/Runs.ts"

const countBySeverity = ({ analysis }: Run): Readonly<Record<string, number>> =>
  Object.fromEntries(
    [...Map.groupBy(analysis === undefined ? [] : countedSeverities(analysis), (severity) => severity)].map(
      ([name, found]) => [name, found.length]
    )
  )

/** Counts what a partial review read. Empty for a complete review. */
const unreadParts = ({ analysis }: Run) => {
  if (analysis?.partial !== true) return {}
  const { coverage } = analysis
  const { changed = coverage.lines, lines, unusable } = coverage
  return {
    partial: true,
    read_lines: lines,
    changed_lines: changed,
    unread_files: countUnread(coverage),
    ...(unusable === undefined ? {} : { unusable })
  }
}

/** The round of a review, its late and folded findings, which are not posted, those for maintainers only, and leaked credentials. */
const roundParts = ({ analysis }: Run) => {
  if (analysis === undefined) return {}
  const { folded, late, private: kept, round } = analysis
  const credentials = listFacts(analysis).length
  return {
    ...(credentials === 0 ? {} : { credentials }),
    ...(folded === undefined ? {} : { folded: folded.length }),
    ...(kept === undefined ? {} : { private: kept.length }),
    ...(round === undefined ? {} : { round: round.number, ...(late === undefined ? {} : { late: late.length }) })
  }
}

/** Logs and counts the end of a run, as an error if it failed. */
export const logEnded = Effect.fn(endSpan)(function* (run: Run, status: RunStatus, reason: Reason | undefined) {
  yield* Effect.annotateCurrentSpan({ run: run.id, status })
  const now = yield* Clock.currentTimeMillis
  const seconds = Math.max(0, now - (run.startedAt ?? run.createdAt)) / 1000
  yield* Metric.update(Metric.withAttributes(Metrics.runs, { outcome: status }), 1)
  yield* Metric.update(Metric.withAttributes(Metrics.runDuration, { outcome: status }), seconds)
  const log = status === "failed" || status === "timeout" ? Effect.logError : Effect.logInfo
  yield* log("run ended", {
    run_id: run.id,
    status,
    ...(reason === undefined ? {} : { reason }),
    seconds,
    ...(run.analysis === undefined ? {} : { findings: countBySeverity(run), usage: usageJson(run.analysis.usage) }),
    ...roundParts(run),
    ...unreadParts(run)
  })
})

/** Adds the ids of the run and of its deliveries to all lines of an effect. Lines have no deliveries while the queue is unavailable. */
export const withStory = <A, E, R>(effect: Effect.Effect<A, E, R>, run: Run): Effect.Effect<A, E, R | Queue> =>
  Effect.gen(function* () {
    const entry = yield* Effect.catch((yield* Queue).get(run.entryId), () => Effect.succeed(undefined))
    const traced = entry === undefined ? effect : inEventTrace(entry.events)(effect)
    return yield* Effect.annotateLogs(traced, {
      workspace: run.workspace,
      target: run.targetKey,
      entry_id: run.entryId,
      run_id: run.id,
      ...(entry === undefined ? {} : { event_id: entry.events })
    })
  })
