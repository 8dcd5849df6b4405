/**
 * Keeps the cache under `workspaces.root` of this node within the limits of `workspaces.cache`: at the start and periodically,
 * while reviews run.
 */
import { Clock, Duration, Effect, Layer, Metric, Schedule } from "effect"
import { ConfigStore } from "../../config/ConfigStore.ts"
import type { WorkspacesConfig } from "../../config/schema/Workspaces.ts"
import * as Metrics from "../../observability/Metrics.ts"
import { WorkspaceCache } from "./WorkspaceCache.ts"
import type { CachePolicy } from "./WorkspaceCache.ts"

const every = Duration.minutes(5)

const toPolicy = ({ max_total_gb, eviction, ttl_days }: WorkspacesConfig["cache"]): CachePolicy => ({
  maxBytes: max_total_gb * 1_073_741_824,
  eviction,
  ttlMillis: Duration.toMillis(Duration.days(ttl_days))
})

const mib = (bytes: number): string => `${Math.ceil(bytes / 1_048_576)} MiB`

const turn = Effect.gen(function* () {
  const policy = toPolicy((yield* ConfigStore).current().document.workspaces.cache)
  const { bytes, evicted, orphans } = yield* (yield* WorkspaceCache).tidy(policy, yield* Clock.currentTimeMillis)
  yield* Metric.update(Metrics.cacheBytes, bytes)
  if (orphans > 0) yield* Effect.logInfo("checkouts of ended processes removed", { checkouts: orphans })
  for (const mirror of evicted) {
    yield* Metric.update(Metric.withAttributes(Metrics.cacheEvictions, { policy: policy.eviction }), 1)
    yield* Effect.logInfo("mirror evicted from the workspace cache", {
      folder: mirror.folder,
      size: mib(mirror.bytes),
      used_at: new Date(mirror.usedAt).toISOString()
    })
  }
  if (bytes > policy.maxBytes) {
    yield* Effect.logWarning("workspace cache over workspaces.cache.max_total_gb, the rest is in use", {
      size: mib(bytes)
    })
  }
})

export const layer: Layer.Layer<never, never, ConfigStore | WorkspaceCache> = Layer.effectDiscard(
  turn.pipe(
    Effect.catch(({ message }) => Effect.logWarning("workspace cache not cleaned", { error: message })),
    Effect.repeat(Schedule.spaced(every)),
    Effect.forkScoped
  )
)
