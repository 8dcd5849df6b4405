/** Decides again about pull requests that were ignored for a reason that does not hold under the configuration in force. */
import { Duration, Effect } from "effect"
import { isWatched } from "../../src/admission/Admit.ts"
import { isIgnoredLabel } from "../../src/admission/IgnoredLabel.ts"
import { toSourceFacts } from "../../src/admission/Select.ts"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import { continueWithout, decidePull, isPassing } from "./FindPulls.ts"
import { pullKey } from "./HostSearch.ts"
import type { HostSearch } from "./HostSearch.ts"

/** Ignored deliveries that are read. */
const maxIgnored = 1000

/** Returns whether the workspace would ignore it for the same reason, if it has not changed. */
const isStillIgnored = ({ review }: Workspace, { facts, reason, rule }: StoredEvent): boolean => {
  switch (reason) {
    case "draft":
      return review.skip_drafts
    case "label_ignored":
      return rule?._tag !== "LabelListed" || isIgnoredLabel(review, String(rule.label))
    case "target_branch_not_watched":
      return !isWatched(review.pull_request.include_target_branches, facts.branch)
    default:
      return false
  }
}

/** Reads the records once for each configuration: what changed at the host itself is found by its update. */
export const findIgnored = Effect.fnUntraced(function* (search: HostSearch) {
  const { kind, limits, memory, now, snapshot, trigger } = search
  if (memory.configHash === snapshot.hash) return
  const since = now - Duration.toMillis(Duration.hours(limits.max_age_hours))
  const filter = { trigger: trigger.name, decision: "ignored", since, limit: maxIgnored } as const
  const again = new Map<string, { readonly repo: { readonly fullName: string }; readonly number: number }>()
  for (const event of yield* (yield* Receipts).list(filter)) {
    const { facts, reason, repo } = event
    if (repo === undefined || facts.number === undefined || !isPassing(reason)) continue
    const workspaces = snapshot.route(trigger.name, toSourceFacts(kind, { fullName: repo }, facts.branch))
    if (!workspaces.some((workspace) => workspace.enabled && !isStillIgnored(workspace, event))) continue
    const candidate = { repo: { fullName: repo }, number: facts.number }
    again.set(pullKey(candidate), candidate)
  }
  for (const candidate of again.values())
    yield* decidePull(search, { ...candidate, updatedAt: undefined }, { first: 0, since: now }).pipe(
      continueWithout(search, { repository: candidate.repo.fullName, number: candidate.number })
    )
  memory.unrouted.clear()
  memory.configHash = snapshot.hash
})
