/**
 * Implements the run of an issue: the host returns the current issue, a model judges it, and the decision is stored as the run's analysis.
 * The head of such a run is a digest of the issue's text, so that the same text is not judged twice, whatever happens to its labels.
 */
import { Effect } from "effect"
import { isIgnoredLabel } from "../../src/admission/IgnoredLabel.ts"
import type { Snapshot, Workspace } from "../../src/config/Snapshot.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { digestIssue } from "../../src/forge/IssueHead.ts"
import { AgentError } from "../../src/agent/Agent.ts"
import { triageIssue } from "../../src/engine/Triage.ts"
import type { Triaged, TriageIssue } from "../../src/engine/Triage.ts"
import type { ForgeClient } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"

/** Returns the reason if there is nothing to decide. */
export const loadIssue = Effect.fnUntraced(function* (
  change: Change,
  workspace: Workspace,
  client: ForgeClient
): Effect.fn.Return<{ readonly issue: TriageIssue; readonly head: string } | Reason, ForgeError> {
  if (!workspace.triage.enabled || !workspace.triage.events.includes("issues")) return { _tag: "TriageDisabled" }
  const { number } = change.target
  if (number === undefined) return { _tag: "NoIssue" }
  const issue = yield* client.issues.read(change.repo, number)
  if (issue.state !== "open") return { _tag: "NotOpen", kind: "issue", state: issue.state }
  const ignored = issue.labels.find((label) => isIgnoredLabel(workspace.review, label))
  if (ignored !== undefined) return { _tag: "LabelIgnored", kind: "issue", label: ignored }
  return { issue, head: digestIssue(issue) }
})

/** Judges the issue. A permanent failure of the model fails the run and leaves the issue open; a transient one is retried, and a provider that refuses requests is waited for. */
export const triageAnalysis = Effect.fnUntraced(function* (
  snapshot: Snapshot,
  workspace: Workspace,
  issue: TriageIssue
) {
  const triaged = yield* triageIssue(snapshot, workspace, issue)
  const { failed } = triaged
  if (failed === undefined) return analysisOf(triaged, workspace)
  const { reason, retryAfterMillis, why } = failed
  return yield* new AgentError({
    reason,
    why: { _tag: "IssueNotTriaged", reason: why },
    ...(retryAfterMillis === undefined ? {} : { retryAfterMillis })
  })
})

const analysisOf = ({ decision, removed, models, usage }: Triaged, { triage }: Workspace): Analysis => {
  const { verdict, category, reason, confidence } = decision
  const closing = triage.dry_run ? "IssueClosedInDryRun" : "IssueClosed"
  return {
    findings: [],
    summary: "",
    conclusion: { _tag: verdict === "close" ? closing : "IssueKeptOpen", category, confidence, reason },
    coverage: { reviewed: [], skipped: [], lines: 0 },
    models,
    usage,
    notices: removed === 0 ? [] : [{ _tag: "IssueSentencesHidden", count: removed }],
    triage: decision
  }
}
