/**
 * Finds the workspace of changes that hook scripts reported, one in the cluster. Such a change is a routing receipt: it is tried
 * five times, at once and then 15, 30, 60 and 120 seconds apart, because the configuration may come to know it meanwhile. When
 * is decided by its time of receipt alone, so that a restart neither forgets nor repeats a try. One without a match ends with
 * the reason on its record.
 *
 * A match ends with a reason too: this build checks out git repositories only.
 */
import { Clock, Duration, Effect } from "effect"
import { Singleton } from "effect/cluster"
import { isExcludedChange } from "../src/admission/Exclude.ts"
import { routeDepot } from "../src/admission/RouteDepot.ts"
import type { DepotBinding } from "../src/admission/RouteDepot.ts"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import type { DepotChange } from "../src/domain/DepotChange.ts"
import { Receipts } from "../src/store/Receipts.ts"
import type { ShardGroup } from "./Placement.ts"

const lookEvery = Duration.seconds(5)
const page = 500
const firstPause = Duration.toMillis("15 seconds")
const attempts = 5
/** 15 + 30 + 60 + 120 seconds. */
const givenUpAfter = firstPause * (2 ** (attempts - 1) - 1)

const vcsName = { perforce: "Perforce", subversion: "Subversion" } as const

/** Why the change is not reviewed, or undefined while a match may still come. */
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
    if (excluded) return `source_excluded: workspace ${binding.workspace.id} leaves out changes like this one`
    return `workspace ${binding.workspace.id} matches, but this build reviews git repositories only: ${vcsName[change.vcs]} change ${change.revision} is not checked out`
  }
  return waited < givenUpAfter
    ? undefined
    : `repository_not_configured: no enabled workspace of a ${change.vcs} trigger matches its paths`
}

/** Whether a try is due in the time since the last look. */
export const isTryDue = (waited: number, sinceLook: number): boolean => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const at = firstPause * (2 ** attempt - 1)
    if (at <= waited && at > waited - sinceLook) return true
  }
  return waited >= givenUpAfter
}

/** Looks at what waits; `sinceLook` is the time since the last look, all of it at start. */
export const look = Effect.fnUntraced(function* (sinceLook: number) {
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
    let last = Number.NEGATIVE_INFINITY
    while (true) {
      const now = yield* Clock.currentTimeMillis
      yield* look(now - last).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            last = now
          })
        ),
        Effect.catch((error) =>
          Effect.logError("VCS hook events not routed, retry scheduled", { error: error.message })
        )
      )
      yield* Effect.sleep(lookEvery)
    }
  }),
  { shardGroup }
)
