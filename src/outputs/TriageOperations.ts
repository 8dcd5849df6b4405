/**
 * What follows from triage of an issue, as rows of the outbox: a comment that says why, a label with the category, and closing. Closing
 * always comes with its reason; action `comment` adds one to issues that stay open. A dry run has no rows. Pure.
 */
import type { Workspace } from "../config/Snapshot.ts"
import type { Change } from "../domain/Change.ts"
import type { OperationId, TargetKey } from "../domain/Keys.ts"
import type { Operation } from "../domain/Publication.ts"
import type { TriageDecision } from "../domain/Triage.ts"
import type { Planned } from "./Channel.ts"
import { labelsFor } from "./Labels.ts"
import { renderMarker } from "./Marker.ts"
import { triageId } from "./OperationId.ts"
import { gfm } from "./SafeText.ts"

/** Longest reason that is shown; the run's record has all of it. */
const longestReason = 2000
/** Categories that say nothing about an issue are no labels. */
const noLabel = new Set(["unknown", "other"])

export interface TriageInput {
  readonly targetKey: TargetKey
  readonly change: Change
  /** Digest of the text that was judged. */
  readonly head: string
  readonly workspace: Pick<Workspace, "triage" | "review">
  readonly decision: TriageDecision
}

const commentOf = ({ decision, workspace }: TriageInput, op: OperationId): string => {
  const { triageKept, triageReopen, triageClosed } = labelsFor(workspace.review.output_language)
  const category = gfm.line(decision.category)
  const closes = decision.verdict === "close"
  const said = `**${closes ? triageClosed(category) : triageKept(category)}** ${gfm.markdown(decision.reason.slice(0, longestReason))}`
  return [said, ...(closes ? [triageReopen] : []), renderMarker({ op })].join("\n\n")
}

export const triageOperations = (input: TriageInput): ReadonlyArray<Planned> => {
  const { targetKey, head, decision, workspace } = input
  const { actions, dry_run: dryRun } = workspace.triage
  if (dryRun) return []
  const closes = decision.verdict === "close" && actions.includes("close")
  const named = (kind: Operation["_tag"]) => triageId(targetKey, head, kind)
  const planned: Array<Planned> = []
  if (closes || actions.includes("comment")) {
    const op = named("IssueComment")
    planned.push({ operationId: op, operation: { _tag: "IssueComment", head, body: commentOf(input, op) } })
  }
  if (actions.includes("label") && !noLabel.has(decision.category)) {
    planned.push({ operationId: named("Label"), operation: { _tag: "Label", name: decision.category } })
  }
  if (closes) planned.push({ operationId: named("CloseIssue"), operation: { _tag: "CloseIssue", head } })
  return planned
}
