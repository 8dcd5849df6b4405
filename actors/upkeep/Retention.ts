/** Removes what is beyond the limits of retention. */
import { DateTime, Duration, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { evidenceFolder } from "../../src/llm/Evidence.ts"
import { Queue } from "../../src/queue/Queue.ts"
import { AdminActions, maxAdminActions } from "../../src/store/AdminActions.ts"
import { AgentPasses } from "../../src/store/AgentPasses.ts"
import { Lessons } from "../../src/store/Lessons.ts"
import { Notices } from "../../src/store/Notices.ts"
import { Objects } from "../../src/store/Objects.ts"
import { Payloads } from "../../src/store/Payloads.ts"
import { PullBases } from "../../src/store/PullBases.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { RejectedSignatures } from "../../src/store/RejectedSignatures.ts"
import { RunLogs } from "../../src/store/RunLogs.ts"
import { Runs } from "../../src/store/Runs.ts"
import { Statistics } from "../../src/store/Statistics.ts"
import { pruneStatements } from "../../src/store/Statements.ts"
import { pruneLedger } from "../limits/BudgetLedger.ts"
import { step } from "./SweepStep.ts"

/** Their keys keep facts from being announced again, so that they are kept regardless of the retention of events. */
const maxNotices = 50_000
const noticeRetentionMillis = Duration.toMillis("90 days")
/** Runs checked per sweep. The others are checked by later sweeps. */
const evidencePerSweep = 5_000

/** Removes evidence of runs whose records no longer exist. */
export const pruneEvidence = Effect.gen(function* () {
  const objects = yield* Objects
  const runs = yield* Runs
  for (const runId of (yield* objects.list(evidenceFolder)).slice(0, evidencePerSweep)) {
    if ((yield* runs.get(runId)) === undefined) yield* objects.remove(`${evidenceFolder}/${runId}`)
    yield* Effect.yieldNow
  }
})

/**
 * Keeps the statistics bounded: marks projects that are no longer configured; removes counts per hour that no timeline shows, and marked
 * projects after the grace period.
 */
const keepStatistics = Effect.fnUntraced(function* (now: number) {
  const statistics = yield* Statistics
  const { document, triggers, workspaces } = (yield* ConfigStore).current()
  yield* statistics.markProjects(({ trigger, workspace }) => workspaces.has(workspace) && triggers.has(trigger), now)
  const grace = Duration.toMillis(Duration.days(document.storage.retention.deleted_project_grace_days))
  const removed = yield* statistics.prune(now - grace, now)
  if (removed > 0) yield* Effect.logInfo("deleted projects removed with their statistics", { projects: removed })
})

/** Removes records beyond the retention limits. */
export const prune = Effect.fnUntraced(function* (now: number) {
  const { retention } = (yield* ConfigStore).current().document.storage
  const before = (months: number) => DateTime.toEpochMillis(DateTime.subtract(DateTime.makeUnsafe(now), { months }))
  const keep = ({ max_age_months, max_count }: { readonly max_age_months: number; readonly max_count: number }) => ({
    maxCount: max_count,
    before: before(max_age_months)
  })
  yield* step("prune events", Effect.asVoid(Receipts.use((receipts) => receipts.prune(keep(retention.events)))))
  const { before: countedFrom } = keep(retention.events)
  yield* step("prune rejected signatures", Effect.asVoid(RejectedSignatures.use((counts) => counts.prune(countedFrom))))
  const { max_age_days: days, max_count: maxCount } = retention.payloads
  const kept = { maxCount, before: now - Duration.toMillis(Duration.days(days)) }
  yield* step("prune payloads", Effect.asVoid(Payloads.use((payloads) => payloads.prune(kept))))
  yield* step("prune pull requests", Effect.asVoid(PullBases.use((bases) => bases.prune(keep(retention.events)))))
  const actions = { maxCount: maxAdminActions, before: before(retention.config_revisions.max_age_months) }
  yield* step("prune actions of administrators", Effect.asVoid(AdminActions.use((log) => log.prune(actions))))
  const keptNotices = { maxCount: maxNotices, before: now - noticeRetentionMillis }
  yield* step("prune notices", Effect.asVoid(Notices.use((notices) => notices.prune(keptNotices))))
  yield* step("statistics", keepStatistics(now))
  yield* step("prune runs", Effect.asVoid(Runs.use((runs) => runs.prune(keep(retention.recent_runs)))))
  const { before: recordedFrom } = keep(retention.recent_runs)
  yield* step("prune logs of runs", Effect.asVoid(RunLogs.use((logs) => logs.prune(recordedFrom))))
  yield* step("prune agent passes", Effect.asVoid(AgentPasses.use((passes) => passes.prune(recordedFrom))))
  yield* step("prune queue", Effect.asVoid(Queue.use((queue) => queue.prune(keep(retention.queue)))))
  yield* step("prune lessons", Effect.asVoid(Lessons.use((lessons) => lessons.prune(now))))
  yield* step("prune ledger", pruneLedger(now))
  yield* step("prune evidence", Effect.asVoid(pruneEvidence))
  yield* step("prune statements", pruneStatements(before(retention.statements.max_age_months)))
})
