/**
 * Finds the workspace of VCS hook events, one in the cluster. Such an event is stored as a routing receipt and tried five times, at
 * intervals of 0, 15, 30, 60 and 120 seconds, because a reload may add its workspace to the configuration. The schedule depends on the time
 * of receipt alone, so that a restart neither skips nor repeats an attempt. An event without a match is settled with the reason.
 *
 * An event with a match is settled with a reason as well: this build checks out git repositories only.
 */
import { Clock, Duration, Effect } from "effect"
import { Singleton } from "effect/cluster"
import { isExcludedChange } from "../src/admission/Exclude.ts"
import { routeDepot } from "../src/admission/RouteDepot.ts"
import type { DepotBinding } from "../src/admission/RouteDepot.ts"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import type { DepotChange } from "../src/domain/DepotChange.ts"
import { limitWarning } from "../src/observability/LimitedWarnings.ts"
import { Receipts } from "../src/store/Receipts.ts"
import { countStart } from "./ActorStarts.ts"
import type { ShardGroup } from "./Placement.ts"

const scanInterval = Duration.seconds(5)
const page = 500
const firstPause = Duration.toMillis("15 seconds")
const attempts = 5
/** The sum 15 + 30 + 60 + 120 seconds. */
const givenUpAfter = firstPause * (2 ** (attempts - 1) - 1)

const vcsName = { perforce: "Perforce", subversion: "Subversion" } as const

/** Returns why the change is not reviewed, or undefined while a match may still appear. */
export const verdict = (
  change: DepotChange,
  bindings: ReadonlyArray<DepotBinding>,
  waited: number
): string | undefined => {
  const [binding] = bindings
  if (bindings.length > 1) {
    return `ambiguous_route: the workspaces ${bindings.map(({ workspace }) => workspace.id).join(", ")} match`
  }
  if (binding !== undefined) {
    const excluded = isExcludedChange(binding.workspace.review.auto_commit.exclude_sources ?? [], change)
    if (excluded) return `source_excluded: workspace ${binding.workspace.id} excludes this change`
    return `workspace ${binding.workspace.id} matches, but this build reviews git repositories only: ${vcsName[change.vcs]} change ${change.revision} is not checked out`
  }
  return waited < givenUpAfter
    ? undefined
    : `repository_not_configured: no enabled workspace of a ${change.vcs} trigger matches its paths`
}

/** Returns whether an attempt fell due since the last scan. */
export const isTryDue = (waited: number, sinceLook: number): boolean => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const at = firstPause * (2 ** attempt - 1)
    if (at <= waited && at > waited - sinceLook) return true
  }
  return waited >= givenUpAfter
}

/** Tries the waiting routing receipts. `sinceLook` is the time since the last scan; at start it covers everything. */
export const scan = Effect.fnUntraced(function* (sinceLook: number) {
  const receipts = yield* Receipts
  const snapshot = (yield* ConfigStore).current()
  const now = yield* Clock.currentTimeMillis
  let after: string | undefined
  while (true) {
    const events = yield* receipts.unrouted(after, page)
    for (const { id, receivedAt, routing } of events) {
      const waited = now - receivedAt
      if (routing === undefined || !isTryDue(waited, sinceLook)) continue
      const reason = verdict(routing, routeDepot(snapshot, routing), waited)
      if (reason === undefined) continue
      yield* receipts.settle([id], { outcome: "skipped", reason }, now)
      yield* Effect.logWarning("VCS hook event skipped", { event_id: id, reason })
    }
    after = events.at(-1)?.id
    if (events.length < page) return
  }
})

const shardGroup: ShardGroup = "actors"

export const layer = Singleton.make(
  "DepotRouting",
  Effect.gen(function* () {
    yield* countStart("DepotRouting")
    let last = Number.NEGATIVE_INFINITY
    while (true) {
      const now = yield* Clock.currentTimeMillis
      yield* scan(now - last).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            last = now
          })
        ),
        Effect.catch((error) =>
          limitWarning("VCS hook events", (suppressed) =>
            Effect.logError("VCS hook events not routed, retry scheduled", { error: error.message, suppressed })
          )
        )
      )
      yield* Effect.sleep(scanInterval)
    }
  }),
  { shardGroup }
)
