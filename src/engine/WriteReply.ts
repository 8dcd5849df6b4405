/**
 * Writes the reply to a comment about a review by a model of the group that reviews of the workspace use. Returns a decision only: what follows
 * from it at the host is decided by the caller. Cost, permits and evidence are accounted to the `ModelRun` that the caller sets.
 */
import { Effect } from "effect"
import { toAgentError } from "../agent/Agent.ts"
import type { AgentError } from "../agent/Agent.ts"
import type { Workspace } from "../config/Snapshot.ts"
import type { Analysis, Usage } from "../domain/Analysis.ts"
import { summaryText } from "../domain/SummaryText.ts"
import type { Gateway } from "../llm/Gateway.ts"
import type { ModelRun } from "../llm/ModelRun.ts"
import { readReply, replyPrompt, replySystem, replyTool } from "../review/ReplyPrompt.ts"
import type { ModelReply, ReplyMaterial } from "../review/ReplyPrompt.ts"
import { withoutRepetition } from "../review/Repetition.ts"
import { scrubSecrets } from "../review/Secrets.ts"
import type { Objects } from "../store/Objects.ts"
import { inEnglish } from "../text/en.ts"
import { deriveFence } from "./plan/Fence.ts"
import { queryStrictly } from "./questions/StrictQuery.ts"
import { readDiffAround } from "./record/DiffOfRun.ts"

interface WrittenReply {
  readonly result: ModelReply | AgentError
  readonly models: ReadonlyArray<string>
  readonly usage: Usage
}

/** Duration of one call, because a person waits for the result. Waiting for permits does not count. */
const maxMillis = 120_000

const scrub = (material: ReplyMaterial): ReplyMaterial => ({
  ...material,
  title: scrubSecrets(material.title),
  summary: scrubSecrets(material.summary),
  diff: scrubSecrets(material.diff),
  code: scrubSecrets(material.code),
  comments: material.comments.map((comment) => ({ ...comment, text: scrubSecrets(comment.text) }))
})

interface ReplyTask {
  readonly workspace: Workspace
  /** Name of a group in llm.model_chain. */
  readonly group: string
  /** Review whose diff is shown, and outside of a thread its summary. */
  readonly review: { readonly id: string; readonly analysis?: Analysis | undefined } | undefined
  readonly material: Omit<ReplyMaterial, "diff" | "summary">
}

export const writeReply = Effect.fn("writeReply")(function* ({
  group,
  material: given,
  review,
  workspace
}: ReplyTask): Effect.fn.Return<WrittenReply, never, Gateway | ModelRun | Objects> {
  const summary = given.isThread || review?.analysis === undefined ? "" : summaryText(review.analysis, inEnglish)
  const places = given.findings.flatMap(({ anchor }) => anchor ?? [])
  const diff = review === undefined ? "" : yield* readDiffAround(review.id, places)
  const material = scrub({ ...given, summary, diff })
  const fence = yield* deriveFence([material.head, ...material.comments.map(({ text }) => text)])
  const { outcome, models, usage } = yield* queryStrictly({
    snapshot: workspace.snapshot(),
    group,
    role: "any",
    system: replySystem(workspace.review.output_language),
    prompt: replyPrompt(material, fence),
    tool: replyTool,
    read: readReply,
    deadlineMillis: maxMillis,
    maxThrottledMillis: maxMillis
  })
  if (outcome._tag === "Failed") return { result: toAgentError(outcome.error), models, usage }
  const { text, ...rest } = outcome.value
  return { result: { ...rest, text: withoutRepetition(scrubSecrets(text)) }, models, usage }
})
