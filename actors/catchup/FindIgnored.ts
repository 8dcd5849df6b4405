/**
 * Decides again about pull requests that were ignored for a reason, or that wait for a window, which does not hold under the configuration in
 * force.
 */
import { Duration, Effect } from "effect"
import { isWatched } from "../../src/admission/Admit.ts"
import { pullRequestDue } from "../../src/admission/Due.ts"
import { isIgnoredLabel } from "../../src/admission/IgnoredLabel.ts"
import { toSourceFacts } from "../../src/admission/Select.ts"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import type { StoredEvent } from "../../src/store/Receipts.ts"
import { continueWithout, decidePull, isPassing, waitsLonger } from "./FindPulls.ts"
import { pullKey } from "./HostSearch.ts"
import type { HostSearch } from "./HostSearch.ts"

/** Ignored deliveries that are read, and as many that wait. */
const maxListed = 1000

/** Returns whether the workspace would ignore it for the same reason, if it has not changed. */
const isStillIgnored = ({ review }: Pick<Workspace, "review">, { facts, reason, rule }: StoredEvent): boolean => {
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
  const { list } = yield* Receipts
  const read = (decision: "deferred" | "ignored") => list({ trigger: trigger.name, decision, since, limit: maxListed })
  const events = [...(yield* read("ignored")), ...(yield* read("deferred"))]
  const again = new Map<string, { readonly repo: { readonly fullName: string }; readonly number: number }>()
  for (const event of events) {
    const { decision, facts, reason, repo } = event
    if (repo === undefined || facts.number === undefined || (decision === "ignored" && !isPassing(reason))) continue
    const workspaces = snapshot.route(trigger.name, toSourceFacts(kind, { fullName: repo }, facts.branch))
    const isOver = ({ review }: Workspace) =>
      decision === "deferred"
        ? waitsLonger(event, pullRequestDue(review, now), now)
        : !isStillIgnored({ review }, event)
    if (!workspaces.some((workspace) => workspace.enabled && isOver(workspace))) continue
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
