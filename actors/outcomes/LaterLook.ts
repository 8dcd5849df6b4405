/**
 * Looks thirty days after a merge whether the code of findings that were not fixed was changed after all: from the mirror of the repository as
 * reviews of other changes left it, without a request. Of several nodes the one that has the commits decides; what none has stays undecided.
 * Servers of Perforce and Subversion have no mirror: a few of their commands read the files.
 */
import { Clock, Duration, Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { decideLater } from "../../src/domain/FindingOutcome.ts"
import { cloneUrl } from "../../src/domain/HostUrls.ts"
import { settleChange } from "../../src/engine/SettleChange.ts"
import { Settlements } from "../../src/store/Settlements.ts"
import type { LaterFindings } from "../../src/store/Settlements.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import type { CheckoutRequest } from "../../src/vcs/Checkout.ts"
import { toTriggerServer } from "../../src/vcs/ConfiguredServer.ts"

const lookAfter = Duration.toMillis(Duration.days(30))
/** Findings of older merges, whose commits no mirror has, are not read any more. */
const giveUpAfter = Duration.toMillis(Duration.days(60))

/** Returns what compares the end of the merge with the newest known commit of its branch; undefined if none is known, or it is not newer. */
const toRequest = (
  { baseRef, repo, settledHead, tip, trigger }: LaterFindings,
  snapshot: Snapshot
): CheckoutRequest | undefined => {
  const profile = snapshot.triggers.get(trigger)
  if (profile === undefined) return undefined
  const server = toTriggerServer(profile, snapshot)
  if (server !== undefined) {
    if ("_tag" in server || Number(tip) <= Number(settledHead)) return undefined
    return { vcs: server.vcs, server, branch: baseRef, head: tip, base: settledHead }
  }
  if (profile.baseUrl === undefined) return undefined
  return {
    url: cloneUrl(profile.baseUrl, { fullName: repo }),
    mirror: `${trigger}/${repo}`,
    authorization: undefined,
    head: tip,
    base: settledHead,
    headRef: undefined,
    baseRef: undefined,
    compare: "endpoints",
    rules: undefined,
    isOffline: true
  }
}

/** Returns whether the code of each finding was changed; nothing if the mirror of this node does not have the commits. */
const readChanges = Effect.fnUntraced(function* (findings: LaterFindings) {
  const request = toRequest(findings, (yield* ConfigStore).current())
  if (request === undefined) return []
  const { records } = findings
  const states = yield* settleChange(
    yield* (yield* Vcs).checkout(request),
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
