/**
 * The state of one pass of an agent CLI: its problems and its end, each stored before the agent gets its reply. Records that cannot be stored
 * are kept in memory, so that an outage of the records does not cost the review.
 */
import { Clock, Effect } from "effect"
import { addUsage } from "../../domain/Analysis.ts"
import type { Usage } from "../../domain/Analysis.ts"
import type { AgentPassRecord, RestoredPass, SearchRecord } from "../../domain/AgentPass.ts"
import type { AgentPasses } from "../../store/AgentPasses.ts"
import { logFailure } from "../../observability/LimitedWarnings.ts"
import { Reports } from "../tools/Reports.ts"
import type { RepositoryReader } from "../tools/RepositoryReader.ts"
import type { Chosen, ToolSession } from "../tools/Tool.ts"

export interface Spent {
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
}

export interface PassSession {
  readonly tools: ToolSession
  readonly reports: Reports
  readonly end: () => Chosen | undefined
  /** Adds what earlier attempts spent. */
  readonly total: (spent: Spent) => Spent
  /** Stores what this attempt has spent so far, if it is more than before: a service that is killed loses only calls in flight. */
  readonly recordSpent: (spent: Spent) => Effect.Effect<void>
  readonly recordSearch: (search: SearchRecord) => Effect.Effect<void>
}

interface PassPlace {
  readonly passes: AgentPasses["Service"]
  readonly runId: string
  readonly pass: string
}

/** Objects that the tools act on. */
interface PassTools {
  readonly reader: RepositoryReader
  readonly maySkip: boolean
}

/** Problems of earlier attempts, and their refused reports, are kept. `spent` returns what this attempt has spent so far. */
export const openSession = (
  { pass, passes, runId }: PassPlace,
  { maySkip, reader }: PassTools,
  restored: RestoredPass,
  spent: Effect.Effect<Spent>
): PassSession => {
  const reports = new Reports(restored)
  let end: Chosen | undefined
  /** Model calls whose usage is stored. */
  let recorded = 0
  const total = ({ models, usage }: Spent): Spent => ({
    models: [...new Set([...restored.models, ...models])],
    usage: addUsage(restored.usage, usage)
  })
  const store = Effect.fnUntraced(function* (record: AgentPassRecord) {
    const now = yield* Clock.currentTimeMillis
    yield* Effect.catch(
      passes.append(runId, pass, record, now),
      logFailure("report of an agent not stored", { run_id: runId })
    )
  })
  const earlier = [...restored.problems, ...restored.refused].map(({ round }) => round)
  const firstRound = 1 + Math.max(-1, ...earlier)
  /** Numbers the reports by the responses of the model so far, after those of earlier attempts. */
  const inRound = Effect.map(spent, ({ usage }) => (reports.round = firstRound + usage.requests))
  return {
    reports,
    end: () => end,
    total,
    recordSpent: (all) =>
      Effect.suspend(() => {
        if (all.usage.requests === recorded) return Effect.void
        recorded = all.usage.requests
        return store({ _tag: "Spent", ...total(all) })
      }),
    recordSearch: (search) => store({ _tag: "Search", ...search }),
    tools: {
      reader,
      maySkip,
      refuse: (_, report) =>
        report === undefined
          ? Effect.void
          : Effect.flatMap(inRound, (round) => {
              reports.refuse(report)
              return store({ _tag: "Refused", report, round })
            }),
      report: (problem) =>
        Effect.flatMap(inRound, (round) => {
          const before = reports.problems.length
          const result = reports.add(problem)
          return reports.problems.length > before
            ? Effect.as(store({ _tag: "Problem", problem, round }), result)
            : Effect.succeed(result)
        }),
      end: (chosen) =>
        Effect.suspend(() => {
          // A summary takes precedence over a request to skip, and the first of each counts.
          if (end !== undefined && (end._tag === "Summary" || chosen._tag === "Skip")) return Effect.void
          end = chosen
          return Effect.flatMap(spent, (all) => store({ ...total(all), ...chosen }))
        })
    }
  }
}
