/** Every node keeps the cache under its own `workspaces.root` within `workspaces.cache`: at the start and in turns, beside the reviews. */
import { Clock, Duration, Effect, Layer, Metric, Schedule } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { WorkspacesConfig } from "../config/schema/Workspaces.ts"
import * as Metrics from "../observability/Metrics.ts"
import { WorkspaceCache } from "./WorkspaceCache.ts"
import type { CachePolicy } from "./WorkspaceCache.ts"

const every = Duration.minutes(5)

const policyOf = ({ max_total_gb, eviction, ttl_days }: WorkspacesConfig["cache"]): CachePolicy => ({
  maxBytes: max_total_gb * 1_073_741_824,
  eviction,
  ttlMillis: Duration.toMillis(Duration.days(ttl_days))
})

const mib = (bytes: number): string => `${Math.ceil(bytes / 1_048_576)} MiB`

const turn = Effect.gen(function* () {
  const policy = policyOf((yield* ConfigStore).current().document.workspaces.cache)
  const { bytes, evicted, orphans } = yield* (yield* WorkspaceCache).tidy(policy, yield* Clock.currentTimeMillis)
  yield* Metric.update(Metrics.cacheBytes, bytes)
  if (orphans > 0) yield* Effect.logInfo(`Removed ${orphans} checkouts of processes that no longer run`)
  for (const mirror of evicted) {
    yield* Metric.update(Metric.withAttributes(Metrics.cacheEvictions, { policy: policy.eviction }), 1)
    yield* Effect.logInfo(
      `Evicted ${mirror.folder} (${mib(mirror.bytes)}, last used ${new Date(mirror.usedAt).toISOString()}) from the workspace cache`
    )
  }
  if (bytes > policy.maxBytes) {
    yield* Effect.logWarning(
      `The workspace cache holds ${mib(bytes)}, over workspaces.cache.max_total_gb: what is left is in use`
    )
  }
})

export const layer: Layer.Layer<never, never, ConfigStore | WorkspaceCache> = Layer.effectDiscard(
  turn.pipe(
    Effect.catch(({ message }) => Effect.logWarning(`The workspace cache was not tidied: ${message}`)),
    Effect.repeat(Schedule.spaced(every)),
    Effect.forkScoped
  )
)
