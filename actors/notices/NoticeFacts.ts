/** Derives the facts of notices from records. Pure. */
import { Duration } from "effect"
import { dayCap } from "../../src/config/DayCaps.ts"
import type { DailyCaps } from "../../src/config/DayCaps.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import { isCalledByHosts } from "../../src/domain/Kinds.ts"
import { reachedThreshold } from "../../src/domain/Notice.ts"
import type { NoticeFacts } from "../../src/domain/Notice.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import type { RuleHealth } from "../../src/domain/RuleHealth.ts"
import { runUrl } from "../../src/domain/RunLink.ts"
import { truncate } from "../../src/domain/Text.ts"
import type { DayAccount } from "../../src/store/Ledger.ts"
import type { CatchUp } from "../../src/store/CatchUps.ts"
import type { HookCount, Inventory, InventoryHook } from "../../src/store/Inventories.ts"
import type { EndedDeliveries } from "../../src/store/Notices.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"

/** Longest name in a notice. */
const maxName = 200

const unrecorded: Reason = { _tag: "NoReasonRecorded" }

type Facts<Tag extends NoticeFacts["_tag"]> = Extract<NoticeFacts, { readonly _tag: Tag }>

const name = (text: string | undefined) => (text === undefined || text === "" ? undefined : truncate(text, maxName))

/** Returns undefined for deliveries without a review: commands, and those that were settled differently since then. */
export const endedFacts = (
  event: StoredEvent,
  { events, outcome }: EndedDeliveries,
  hours: number,
  server: Parameters<typeof runUrl>[0]
): Facts<"queue_expired"> | Facts<"review_failed"> | undefined => {
  const { facts, id, outcomeReason, repo, runId, work, workspace } = event
  if (event.outcome !== outcome || work?.command !== undefined) return undefined
  const change = work?.change
  const author = name(change?.author?.username ?? change?.client ?? facts.author)
  const branch = name(change?.target.branch ?? change?.headRef ?? facts.branch)
  const head = name(change?.head)
  const number = change?.target.number ?? facts.number
  const subject = {
    workspace: workspace ?? "",
    repository: name(repo ?? change?.repo.fullName) ?? "",
    eventId: id,
    events,
    reason: outcomeReason ?? unrecorded,
    ...(author === undefined ? {} : { author }),
    ...(branch === undefined ? {} : { branch }),
    ...(head === undefined ? {} : { head }),
    ...(number === undefined ? {} : { number }),
    ...(change?.url === undefined ? {} : { url: change.url })
  }
  if (outcome === "expired") return { _tag: "queue_expired", ...subject, hours }
  const url = runId === undefined ? undefined : runUrl(server, runId)
  return {
    _tag: "review_failed",
    ...subject,
    ...(runId === undefined ? {} : { runId }),
    ...(url === undefined ? {} : { runUrl: url })
  }
}

/** `health`: of a rule that was muted. */
export const mutedFacts = (health: RuleHealth): Facts<"rule_muted"> | undefined => {
  const { digest, floor, id, judged, judgedAccepted, owner, repository } = health
  const named = name(owner)
  return floor === undefined
    ? undefined
    : {
        _tag: "rule_muted",
        repository: truncate(repository, maxName),
        rule: id,
        digest,
        judged,
        accepted: judgedAccepted,
        floor,
        ...(named === undefined ? {} : { owner: named })
      }
}

/** Returns the threshold that the spent amount of an account has reached, if any. */
export const budgetFacts = (
  { kind, name: account, spentUsd }: Pick<DayAccount, "kind" | "name" | "spentUsd">,
  day: string,
  budget: DailyCaps
): Facts<"budget_threshold"> | undefined => {
  const capUsd = dayCap(budget, kind, account)
  // A budget of nothing is a switch, not an amount that is spent.
  if (capUsd === undefined || capUsd <= 0) return undefined
  const percent = reachedThreshold(spentUsd, capUsd)
  return percent === undefined
    ? undefined
    : { _tag: "budget_threshold", scope: kind, name: truncate(account, maxName), day, percent, spentUsd, capUsd }
}

/** Time without a delivery after which a webhook is silent. */
export const silenceMillis = Duration.toMillis("24 hours")

/** `lastAt`: time of the newest delivery. Only triggers that hosts and hooks call can be silent. */
export const silentFacts = (
  trigger: Pick<TriggerProfile, "enabled" | "kind" | "name"> | undefined,
  lastAt: number,
  now: number
): Facts<"webhook_silent"> | undefined => {
  if (trigger === undefined || !trigger.enabled || now - lastAt < silenceMillis) return undefined
  if (!isCalledByHosts(trigger.kind)) return undefined
  const hours = Math.floor(silenceMillis / Duration.toMillis("1 hour"))
  return { _tag: "webhook_silent", trigger: truncate(trigger.name, maxName), lastAt, hours }
}

/** Age at which changes that were found are no news to a new route. */
export const newsMillis = Duration.toMillis("24 hours")

/** Returns what the last search with a result found, if that is news. */
export const foundFacts = (
  { found, foundAt, foundFor, foundSince, searchedAt, skipped, trigger }: CatchUp,
  now: number
): Facts<"found_without_delivery"> | undefined => {
  if (foundAt === undefined || found === 0 || now - foundAt > newsMillis) return undefined
  return {
    _tag: "found_without_delivery",
    trigger: truncate(trigger, maxName),
    found,
    skipped: searchedAt === foundAt ? skipped : 0,
    foundAt,
    ...(foundSince === undefined ? {} : { since: foundSince }),
    ...(foundFor === undefined ? {} : { occasion: foundFor })
  }
}

/** Webhooks that a notice names. */
export const namedHooks = 5

/**
 * Returns the missing and broken webhooks of a trigger, if the newest of them is news. A check in progress is not reported: it may find more.
 * Until all are mended, only a further one is news.
 */
export const brokenFacts = (
  { checkedAt, trigger }: Inventory,
  broken: ReadonlyArray<HookCount>,
  hooks: ReadonlyArray<InventoryHook>,
  now: number
): Facts<"webhook_broken"> | undefined => {
  const since = Math.max(...broken.map((one) => one.since ?? 0))
  const count = broken.reduce((sum, one) => sum + one.count, 0)
  if (count === 0 || checkedAt === undefined || checkedAt < since || now - since > newsMillis) return undefined
  return {
    _tag: "webhook_broken",
    trigger: truncate(trigger, maxName),
    count,
    hooks: hooks
      .filter(({ brokenSince }) => brokenSince !== undefined)
      .map(({ name: repository, problem = unrecorded }) => ({
        name: truncate(repository === "" ? trigger : repository, maxName),
        problem
      })),
    since
  }
}
