/**
 * Finds facts that operators are notified of, one scan in the cluster: deliveries that ended without a review, budgets that reached a
 * threshold, webhooks that are silent, missing or broken, changes that were found without a delivery, and rules that were muted. The facts are records of the store, and a
 * notice has a key that names its fact, so that a scan that a crash interrupted is repeated and adds nothing twice.
 */
import { Clock, Duration, Effect, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { awaitSnapshot } from "../../src/config/AwaitSnapshot.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { hasDayCap } from "../../src/config/DayCaps.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { workspaceNoticeKinds } from "../../src/domain/Notice.ts"
import { limitWarning, logFailure } from "../../src/observability/LimitedWarnings.ts"
import { expiryChannels } from "../../src/outputs/ExpiryNotice.ts"
import { hasNoticeRoute, hasNoticeRoutes, planNotices } from "../../src/outputs/PlanNotices.ts"
import { queuedTimeoutHours } from "../../src/queue/ExpiryCutoffs.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import { Inventories } from "../../src/store/Inventories.ts"
import { Ledger } from "../../src/store/Ledger.ts"
import { Notices } from "../../src/store/Notices.ts"
import type { EndedDeliveries } from "../../src/store/Notices.ts"
import { ProjectRules } from "../../src/store/ProjectRules.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import { countStart } from "../ActorStarts.ts"
import {
  brokenFacts,
  budgetFacts,
  endedFacts,
  foundFacts,
  mutedFacts,
  namedHooks,
  newsMillis,
  silenceMillis,
  silentFacts
} from "./NoticeFacts.ts"
import { maxPerHour } from "./NoticeStep.ts"
import type { ShardGroup } from "../Placement.ts"

const scanInterval = Duration.seconds(2)
const budgetInterval = Duration.seconds(10)
const webhookInterval = Duration.seconds(20)
const page = 200
const maxAccounts = 1000
/** Time in which a record with an earlier time may still become visible. */
const lateMillis = Duration.toMillis("5 minutes")
/** Time that hosts have to deliver after a start, because nothing was received while the service was down. */
const startGraceMillis = Duration.toMillis("1 hour")

/** Notices that a channel gets within the time after which unsent ones are dropped: further ones would never be sent. */
export const maxWaiting = 24 * maxPerHour

const add = Effect.fnUntraced(function* (planned: ReturnType<typeof planNotices>) {
  if (planned.length === 0) return
  const notices = yield* Notices
  const waiting = yield* notices.waiting
  const added = planned.filter(({ channel }) => (waiting.get(channel) ?? 0) < maxWaiting)
  if (added.length < planned.length)
    yield* limitWarning("full channels of notices", (suppressed) =>
      Effect.logWarning("notice not stored, too many wait for its channel", {
        channels: planned.filter((one) => !added.includes(one)).map(({ channel }) => channel),
        suppressed
      })
    )
  yield* notices.add(added, yield* Clock.currentTimeMillis)
})

/** Channels that publish the expiry of this entry anyway. */
const notifiedChannels = Effect.fnUntraced(function* ({ work }: StoredEvent) {
  if (work === undefined) return new Set<string>()
  const workspace = (yield* (yield* ConfigStore).pinned(work.configHash)).workspaces.get(work.change.workspace)
  const channels = workspace === undefined ? [] : expiryChannels(workspace, work.change)
  return new Set(channels.map(({ name }) => name))
})

const noteEnded = Effect.fnUntraced(function* (ended: EndedDeliveries, snapshot: Snapshot) {
  const event = yield* (yield* Receipts).get(ended.eventId)
  if (event === undefined) return
  const hours = queuedTimeoutHours(snapshot, event.workspace ?? "")
  const facts = endedFacts(event, ended, hours, snapshot.document.server)
  if (facts === undefined) return
  yield* add(planNotices(snapshot, facts, facts._tag === "queue_expired" ? yield* notifiedChannels(event) : undefined))
})

/** Memory of the scans of deliveries. */
export class EndedScan {
  /** Deliveries of earlier scans with the times of their ends. */
  readonly handled = new Map<string, number>()
  /** True while there is no route, and the store has no position: a later route announces nothing from before it. */
  isOff = false
}

/** Scans deliveries that ended since the last scan. Without a route the store is called once. */
export const scanEnded = Effect.fnUntraced(function* (memory: EndedScan) {
  const notices = yield* Notices
  const snapshot = (yield* ConfigStore).current()
  const { handled } = memory
  if (!workspaceNoticeKinds.some((kind) => hasNoticeRoute(snapshot, kind))) {
    if (!memory.isOff) yield* notices.setScannedTo(undefined)
    memory.isOff = true
    return
  }
  memory.isOff = false
  const now = yield* Clock.currentTimeMillis
  const scannedTo = yield* notices.scannedTo
  if (scannedTo === undefined) return yield* notices.setScannedTo(now)
  let after = { endedAt: Math.min(scannedTo, now) - lateMillis, eventId: "" }
  for (const [eventId, endedAt] of handled) if (endedAt < after.endedAt) handled.delete(eventId)
  while (true) {
    const found = yield* notices.ended(after, page)
    for (const ended of found) {
      if (handled.has(ended.eventId)) continue
      yield* noteEnded(ended, snapshot)
      handled.set(ended.eventId, ended.endedAt)
    }
    after = found.at(-1) ?? after
    if (found.length < page) break
  }
  if (now !== scannedTo) yield* notices.setScannedTo(now)
})

const toDay = (millis: number): string => new Date(millis).toISOString().slice(0, 10)

/** Scans the budgets of today and, for calls that ended at midnight, of yesterday. */
export const scanBudgets = Effect.gen(function* () {
  const snapshot = (yield* ConfigStore).current()
  const { budget } = snapshot.document.llm
  if (!hasDayCap(budget)) return
  if (!hasNoticeRoute(snapshot, "budget_threshold")) return
  const ledger = yield* Ledger
  const now = yield* Clock.currentTimeMillis
  for (const day of new Set([toDay(now - lateMillis), toDay(now)])) {
    for (const account of yield* ledger.listDay(day, maxAccounts)) {
      const facts = budgetFacts(account, day, budget)
      if (facts !== undefined) yield* add(planNotices(snapshot, facts))
    }
  }
})

/** Scans the newest deliveries of triggers. `startedAt`: start of the scans. */
export const scanWebhooks = Effect.fnUntraced(function* (startedAt: number) {
  const snapshot = (yield* ConfigStore).current()
  const now = yield* Clock.currentTimeMillis
  if (now - startedAt < startGraceMillis || !hasNoticeRoute(snapshot, "webhook_silent")) return
  const activity = yield* (yield* Receipts).activity({ since: now - 2 * silenceMillis, recentSince: now })
  for (const { lastAt, trigger } of activity) {
    const facts = lastAt === undefined ? undefined : silentFacts(snapshot.triggers.get(trigger), lastAt, now)
    if (facts !== undefined) yield* add(planNotices(snapshot, facts))
  }
})

/** Scans what was found without a delivery. */
export const scanCatchUps = Effect.gen(function* () {
  const snapshot = (yield* ConfigStore).current()
  if (!hasNoticeRoute(snapshot, "found_without_delivery")) return
  const now = yield* Clock.currentTimeMillis
  for (const one of yield* (yield* CatchUps).list) {
    const facts = foundFacts(one, now)
    if (facts !== undefined) yield* add(planNotices(snapshot, facts))
  }
})

/** Scans the rules that were muted. */
export const scanRules = Effect.gen(function* () {
  const snapshot = (yield* ConfigStore).current()
  if (!hasNoticeRoute(snapshot, "rule_muted")) return
  const now = yield* Clock.currentTimeMillis
  for (const health of yield* (yield* ProjectRules).health({ mutedSince: now - newsMillis })) {
    const facts = mutedFacts(health)
    if (facts !== undefined) yield* add(planNotices(snapshot, facts))
  }
})

/** Scans the webhooks that the inventories found missing or broken. */
export const scanHooks = Effect.gen(function* () {
  const snapshot = (yield* ConfigStore).current()
  if (!hasNoticeRoute(snapshot, "webhook_broken")) return
  const now = yield* Clock.currentTimeMillis
  const { counts, list, problems } = yield* Inventories
  const broken = Map.groupBy(
    (yield* counts).filter(({ since }) => since !== undefined),
    ({ trigger }) => trigger
  )
  if (broken.size === 0) return
  for (const inventory of yield* list) {
    const counted = broken.get(inventory.trigger) ?? []
    const trigger = snapshot.triggers.get(inventory.trigger)
    if (counted.length === 0 || trigger?.enabled !== true || trigger.settings.inventory.hooks === "off") continue
    const facts = brokenFacts(inventory, counted, yield* problems(inventory.trigger, namedHooks), now)
    if (facts !== undefined) yield* add(planNotices(snapshot, facts))
  }
})

/** Repeats a scan while there are routes. The first scan without one clears what it stored. */
const repeat = <E extends { readonly message: string }, R>(
  operation: string,
  every: Duration.Duration,
  effect: Effect.Effect<void, E, R>
) =>
  effect.pipe(
    Effect.catch(
      logFailure("scan for notices failed, retry scheduled", { operation }, { about: operation, level: "Error" })
    ),
    Effect.andThen(awaitSnapshot(hasNoticeRoutes)),
    Effect.repeat(Schedule.spaced(every))
  )

const shardGroup: ShardGroup = "actors"

/** The scans of all kinds. A kind without a route reads nothing from the store. */
export const scanAll = Effect.gen(function* () {
  const startedAt = yield* Clock.currentTimeMillis
  yield* Effect.all(
    [
      repeat("deliveries", scanInterval, scanEnded(new EndedScan())),
      repeat("budgets", budgetInterval, scanBudgets),
      repeat("webhooks", webhookInterval, scanWebhooks(startedAt)),
      repeat("changes without a delivery", webhookInterval, scanCatchUps),
      repeat("broken webhooks", webhookInterval, scanHooks),
      repeat("muted rules", webhookInterval, scanRules)
    ],
    { concurrency: 6, discard: true }
  )
})

export const layer = Singleton.make("NoticeScan", Effect.andThen(countStart("NoticeScan"), scanAll), { shardGroup })
