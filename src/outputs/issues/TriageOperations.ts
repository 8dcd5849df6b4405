/**
 * Plans the publications of the triage of an issue: a comment with the reason, a label with the category, and closing. A closed
 * issue always gets a comment; the action `comment` adds one to issues that stay open. A dry run has no publications. Pure.
 */
import type { Workspace } from "../../config/Snapshot.ts"
import type { Change } from "../../domain/Change.ts"
import type { OperationId, TargetKey } from "../../domain/Keys.ts"
import type { Operation } from "../../domain/Publication.ts"
import type { TriageDecision } from "../../domain/Triage.ts"
import type { Planned } from "../channels/Channel.ts"
import { labelsFor } from "../Labels.ts"
import { renderMarker } from "../Marker.ts"
import { triageId } from "../channels/OperationId.ts"
import { gfm } from "../SafeText.ts"
import { inLanguage } from "../../text/InLanguage.ts"

/** Maximum length of the published reason; the run's record contains all of it. */
const maxReasonLength = 2000
/** Categories without information, which are not used as labels. */
const noLabel = new Set(["unknown", "other"])

interface TriageInput {
  readonly targetKey: TargetKey
  readonly change: Change
  /** Digest of the triaged text. */
  readonly head: string
  readonly workspace: Pick<Workspace, "triage" | "review">
  readonly decision: TriageDecision
}

const renderComment = ({ decision, workspace }: TriageInput, op: OperationId): string => {
  const { triageKept, triageReopen, triageClosed } = labelsFor(workspace.review.output_language)
  const category = gfm.line(decision.category)
  const closes = decision.verdict === "close"
  const title = `**${closes ? triageClosed(category) : triageKept(category)}** ${gfm.markdown(inLanguage(workspace.review.output_language)(decision.reason).slice(0, maxReasonLength))}`
  return [title, ...(closes ? [triageReopen] : []), renderMarker({ op })].join("\n\n")
}

export const triageOperations = (input: TriageInput): ReadonlyArray<Planned> => {
  const { targetKey, head, decision, workspace } = input
  const { actions, dry_run: dryRun } = workspace.triage
  if (dryRun) return []
  const closes = decision.verdict === "close" && actions.includes("close")
  const toOperationId = (kind: Operation["_tag"]) => triageId(targetKey, head, kind)
  const planned: Array<Planned> = []
  if (closes || actions.includes("comment")) {
    const op = toOperationId("IssueComment")
    planned.push({ operationId: op, operation: { _tag: "IssueComment", head, body: renderComment(input, op) } })
  }
  if (actions.includes("label") && !noLabel.has(decision.category)) {
    planned.push({ operationId: toOperationId("Label"), operation: { _tag: "Label", name: decision.category } })
  }
  if (closes) planned.push({ operationId: toOperationId("CloseIssue"), operation: { _tag: "CloseIssue", head } })
  return planned
}
