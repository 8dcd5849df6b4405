/**
 * Looks thirty days after a merge whether the code of findings that were not fixed was changed after all: from the mirror of the repository as
 * reviews of other changes left it, without a request. Of several nodes the one that has the commits decides; what none has stays undecided.
 */
import { Clock, Duration, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import { decideLater } from "../../src/domain/FindingOutcome.ts"
import { cloneUrl } from "../../src/domain/HostUrls.ts"
import { settleChange } from "../../src/engine/SettleChange.ts"
import { Settlements } from "../../src/store/Settlements.ts"
import type { LaterFindings } from "../../src/store/Settlements.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"

const lookAfter = Duration.toMillis(Duration.days(30))
/** Findings of older merges, whose commits no mirror has, are not read any more. */
const giveUpAfter = Duration.toMillis(Duration.days(60))

/** Returns whether the code of each finding was changed; nothing if the mirror of this node does not have the commits. */
const readChanges = Effect.fnUntraced(function* ({ records, repo, settledHead, tip, trigger }: LaterFindings) {
  const baseUrl = (yield* ConfigStore).current().triggers.get(trigger)?.baseUrl
  if (baseUrl === undefined) return []
  const checkout = yield* (yield* Vcs).checkout({
    url: cloneUrl(baseUrl, { fullName: repo }),
    mirror: `${trigger}/${repo}`,
    authorization: undefined,
    head: tip,
    base: settledHead,
    headRef: undefined,
    baseRef: undefined,
    compare: "endpoints",
    rules: undefined,
    isOffline: true
  })
  const states = yield* settleChange(
    checkout,
    records.map((one) => ({ ...one, outcome: "open" as const }))
  )
  return records.map(({ fingerprint, targetKey }, at) => ({
    targetKey,
    fingerprint,
    later: decideLater(states[at] ?? "open")
  }))
}, Effect.scoped)

export const lookLater = Effect.gen(function* () {
  const settlements = yield* Settlements
  const now = yield* Clock.currentTimeMillis
  for (const findings of yield* settlements.later({ since: now - giveUpAfter, until: now - lookAfter })) {
    const changes = yield* Effect.catch(readChanges(findings), (error) =>
      Effect.as(
        Effect.logDebug("findings of an earlier merge not looked at", {
          repository: findings.repo,
          error: error.message
        }),
        []
      )
    )
    yield* settlements.storeLater(changes)
  }
})
