/**
 * Triage of one issue by a model. Returns a decision only; the caller applies it (closing, labels, comments, nothing in
 * a dry run). Cost, permits and evidence are accounted to the `ModelRun` that the caller sets, as for reviews.
 */
import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import { AgentError, toAgentError } from "../agent/Agent.ts"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import { noUsage } from "../domain/Analysis.ts"
import type { Usage } from "../domain/Analysis.ts"
import type { TriageDecision } from "../domain/Triage.ts"
import type { Gateway } from "../llm/Gateway.ts"
import { removeSecrets, scrubSecrets } from "../review/Secrets.ts"
import { decideTriage, readTriage, triagePrompt, triageSystem, triageTool } from "../review/TriagePrompt.ts"
import type { TriageIssue } from "../review/TriagePrompt.ts"
import { queryStrictly } from "./questions/StrictQuery.ts"
import type { ModelRun } from "../llm/ModelRun.ts"
import type { Reason } from "../domain/Reason.ts"

export type { TriageIssue } from "../review/TriagePrompt.ts"

export interface Triaged {
  readonly decision: TriageDecision
  /** Absent where a model responded. Otherwise the failure; the decision is to keep the issue open. */
  readonly failed?: AgentError
  /** Sentences that spoke to an automated reader and were not shown to the model. */
  readonly removed: number
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
}

/** Duration of one call. Waiting for permits does not count. */
const callMillis = 300_000

export const triageIssue = Effect.fn("triageIssue")(function* (
  snapshot: Snapshot,
  workspace: Workspace,
  issue: TriageIssue
): Effect.fn.Return<Triaged, never, Gateway | ModelRun> {
  const { triage: rules, triageModelChain: group } = workspace
  const prompt = triagePrompt(
    // The filter for sentences that address the model reads the characters themselves, not their names.
    { ...issue, title: removeSecrets(issue.title), body: removeSecrets(issue.body) },
    randomBytes(12).toString("hex")
  )
  const { removed } = prompt
  const none = { removed, models: [], usage: noUsage }
  if (issue.state === "closed") return { decision: keptOpen({ _tag: "IssueClosedAlready" }), ...none }
  if (group === undefined) {
    return {
      decision: keptOpen({ _tag: "NoModelResult" }),
      failed: new AgentError({ reason: "failed", why: { _tag: "NoModelGroups" } }),
      ...none
    }
  }
  const { outcome, models, usage } = yield* queryStrictly({
    snapshot,
    group,
    role: "any",
    system: triageSystem(rules, workspace.review.output_language),
    prompt: prompt.text,
    tool: triageTool(rules),
    read: readTriage(rules),
    deadlineMillis: callMillis
  })
  const spent = { removed, models, usage }
  if (outcome._tag === "Failed") {
    const { error } = outcome
    yield* Effect.logWarning("triage failed, the issue stays open", { reason: error.why })
    return { decision: keptOpen({ _tag: "NoModelResult" }), failed: toAgentError(error), ...spent }
  }
  const { value } = outcome
  return { decision: decideTriage({ ...value, reason: scrubSecrets(value.reason) }, prompt, rules), ...spent }
})

const keptOpen = (reason: Reason): TriageDecision => ({
  verdict: "keep_open",
  category: "unknown",
  reason,
  confidence: 0
})
