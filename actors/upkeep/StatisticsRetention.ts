/**
 * Keeps the statistics bounded: marks projects that are no longer configured; removes counts per hour that no timeline shows, and marked
 * projects after the grace period.
 */
import { Duration, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { Statistics } from "../../src/store/Statistics.ts"

export const keepStatistics = Effect.fnUntraced(function* (now: number) {
  const statistics = yield* Statistics
  const { document, triggers, workspaces } = (yield* ConfigStore).current()
  yield* statistics.markProjects(({ trigger, workspace }) => workspaces.has(workspace) && triggers.has(trigger), now)
  const grace = Duration.toMillis(Duration.days(document.storage.retention.deleted_project_grace_days))
  const removed = yield* statistics.prune(now - grace, now)
  if (removed > 0) yield* Effect.logInfo("deleted projects removed with their statistics", { projects: removed })
})
