/**
 * Routes VCS hook events, one in the cluster. Such an event is stored as a routing receipt, because the script only reports its depot. A
 * receipt is tried five times, at intervals of 0, 15, 30, 60 and 120 seconds, because a reload may add its workspace to the configuration,
 * and a replica of a repository may be late; then every five minutes for a day while its server is unreachable. The schedule depends on
 * the time of receipt alone, so that a restart neither skips nor repeats an attempt. An event without a match is settled with the reason.
 *
 * Matching changes become reviews (`RouteSubmitted`).
 */
import { Clock, Duration, Effect } from "effect"
import { Singleton } from "effect/cluster"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import type { DepotChange } from "../src/domain/DepotChange.ts"
import { limitWarning } from "../src/observability/LimitedWarnings.ts"
import { Receipts } from "../src/store/Receipts.ts"
import type { StoredEvent } from "../src/store/Receipts.ts"
import { countStart } from "./ActorStarts.ts"
import type { ShardGroup } from "./Placement.ts"
import { routeSubmitted } from "./RouteSubmitted.ts"
import type { RoutedEvent } from "./RouteSubmitted.ts"

const scanInterval = Duration.millis(250)
const page = 500
/** Receipts that are routed at the same time; each reads from a server. */
const atOnce = 4
const firstPause = Duration.toMillis("15 seconds")
const attempts = 5
/** The sum 15 + 30 + 60 + 120 seconds. */
const givenUpAfter = firstPause * (2 ** (attempts - 1) - 1)
const laterPause = Duration.toMillis("5 minutes")
const unreachableFor = Duration.toMillis("24 hours")

/** Returns whether an attempt fell due since the last scan. */
export const isTryDue = (waited: number, sinceLook: number): boolean => {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const at = firstPause * (2 ** attempt - 1)
    if (at <= waited && at > waited - sinceLook) return true
  }
  const [now, before] = [waited - givenUpAfter, waited - sinceLook - givenUpAfter]
  return now >= 0 && (before < 0 || Math.floor(now / laterPause) > Math.floor(before / laterPause))
}

/** Ends waiting when the attempts are used up. */
const endWaiting = (
  routed: RoutedEvent,
  waited: number
): Exclude<RoutedEvent, { readonly _tag: "Waiting" }> | undefined => {
  if (routed._tag === "Settled") return routed
  if (waited < (routed.isOutage ? unreachableFor : givenUpAfter)) return undefined
  return { _tag: "Settled", outcome: routed.isOutage ? "failed" : "skipped", reason: routed.reason }
}

const routeOne = Effect.fnUntraced(function* (event: StoredEvent, routing: DepotChange, waited: number) {
  const snapshot = (yield* ConfigStore).current()
  return endWaiting(yield* routeSubmitted(event, routing, snapshot), waited)
})

/** Tries the waiting routing receipts. `sinceLook` is the time since the last scan; at start it covers everything. */
export const scan = Effect.fnUntraced(function* (sinceLook: number) {
  const receipts = yield* Receipts
  const now = yield* Clock.currentTimeMillis
  const route = Effect.fnUntraced(function* (event: StoredEvent) {
    const { id, receivedAt, routing } = event
    const waited = now - receivedAt
    if (routing === undefined || !isTryDue(waited, sinceLook)) return
    const routed = yield* routeOne(event, routing, waited)
    if (routed === undefined) return
    const { outcome, reason } = routed
    yield* receipts.settle([id], { outcome, reason }, yield* Clock.currentTimeMillis)
    const line = { event_id: id, revision: routing.revision, outcome, reason }
    yield* outcome === "executed"
      ? Effect.logInfo("VCS hook event routed", line)
      : Effect.logWarning("VCS hook event not reviewed", line)
  })
  let after: string | undefined
  while (true) {
    const events = yield* receipts.unrouted(after, page)
    yield* Effect.forEach(events, route, { concurrency: atOnce, discard: true })
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
