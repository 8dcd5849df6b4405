/**
 * The operations that publish a review on a pull request, or on a commit: one managed summary comment, reviews that carry at most 30
 * inline comments each, and what settles earlier reviews. The summary comes first, so that a comment that the host does not accept at
 * its line has a place to go. Pure.
 */
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Change } from "../domain/Change.ts"
import { unreadPaths } from "../domain/Coverage.ts"
import type { Finding } from "../domain/Problem.ts"
import type { InlineComment, Operation } from "../domain/Publication.ts"
import type { ChannelPlan, Planned, PublishInput } from "./Channel.ts"
import { labelsFor } from "./Labels.ts"
import { cleanPolicy } from "./NoProblems.ts"
import { operationId } from "./OperationId.ts"
import { renderProblem, renderReviewBody, renderSummary } from "./Render.ts"
import type { Renderer } from "./Render.ts"
import { headScope, summaryFp, summaryScope } from "./Scopes.ts"
import { namesAll, shownBy } from "./Shown.ts"
import { problemsOf } from "./SinceLast.ts"

/** Comments of one review call. */
const maxPerReview = 30

export interface ReviewHost extends Renderer {
  /** The host takes comments on commits, so reviews of what was pushed have a place there. */
  readonly commits: boolean
  /** Its reviews can ask for changes and approve. */
  readonly verdicts: boolean
}

const inlineOf = (finding: Finding, body: string): ReadonlyArray<InlineComment> =>
  finding.anchor === undefined ? [] : [{ ...finding.anchor, body }]

export const isOnPull = ({ target }: Change): boolean => target.kind === "pull_request" && target.number !== undefined

/** Settles the line comments of earlier reviews; a review without a statement about the change settles nothing. */
const threadsOf = (input: PublishInput, channel: ChannelConfig): ReadonlyArray<Planned> => {
  const { analysis, head } = input
  if (analysis.skipped !== undefined) return []
  const { reviewed, skipped } = analysis.coverage
  const whole = namesAll(input)
  const operation: Operation = {
    _tag: "Threads",
    head,
    present: analysis.findings.map(({ fingerprint }) => fingerprint),
    analysed: whole ? reviewed : [],
    changed: whole ? [...reviewed, ...skipped.map(({ path }) => path)] : []
  }
  return [{ operationId: operationId(input, channel.name, "Threads", 0), operation }]
}

/** What a clean review does to an earlier request for changes; one that left something out is not clean. */
const verdictOn = (input: PublishInput, channel: ChannelConfig, shown: number): ReadonlyArray<Planned> => {
  const { analysis, head, workspace } = input
  const isClean = shown === 0 && namesAll(input) && unreadPaths(analysis.coverage).length === 0
  if (!isClean || channel.review_event !== "REQUEST_CHANGES") return []
  const operation: Operation = {
    _tag: "Verdict",
    head,
    approves: channel.review_approve === "when_clean",
    body: labelsFor(workspace.review.output_language).lifted(head.slice(0, 12))
  }
  return [{ operationId: operationId(input, channel.name, "Verdict", 0), operation }]
}

/** What a plan is made of. */
interface PlanInput {
  readonly input: PublishInput
  readonly channel: ChannelConfig
  readonly renderer: ReviewHost
  readonly shown: ReadonlyArray<Finding>
  readonly hidden: number
  /** Findings that get a comment at their line. */
  readonly inline: ReadonlyArray<Finding>
  /** The review has comments at lines at all. */
  readonly hasLines: boolean
  readonly policy: ReturnType<typeof cleanPolicy> | "publish"
}

const planCommitComment = ({ input, channel, renderer, shown, hidden, policy }: PlanInput): ReadonlyArray<Planned> => {
  if (policy === "update") return []
  const op = operationId(input, channel.name, "CommitComment", 0)
  const body = renderSummary(input, channel, { shown, inline: [], hidden }, { op }, renderer)
  return [{ operationId: op, operation: { _tag: "CommitComment", head: input.head, body } }]
}

const planSummary = ({ input, channel, renderer, shown, hidden, inline, policy }: PlanInput): Planned => {
  const op = operationId(input, channel.name, "Summary", 0)
  const scopeId = channel.review_update_strategy === "always_new" ? op : ""
  const scope = summaryScope(input.workspace.id, channel.name, scopeId)
  const body = renderSummary(input, channel, { shown, inline, hidden }, { op, fp: summaryFp, scope }, renderer)
  return {
    operationId: op,
    operation: {
      _tag: "Summary",
      head: input.head,
      body,
      problems: problemsOf(input, shown),
      ...(policy === "update" ? { onlyUpdate: true } : {})
    }
  }
}

const planReviews = ({ input, channel, renderer, shown, inline, hasLines }: PlanInput): ReadonlyArray<Planned> => {
  const { head, workspace } = input
  const event = shown.length > 0 ? (channel.review_event ?? "COMMENT") : "COMMENT"
  const postsClean = hasLines && shown.length === 0 && !workspace.review.skip_lgtm
  // A verdict is given also where no problem has a line.
  const postsVerdict = hasLines && renderer.verdicts && event === "REQUEST_CHANGES"
  const count = Math.max(Math.ceil(inline.length / maxPerReview), postsClean || postsVerdict ? 1 : 0)
  return Array.from({ length: count }, (_, part): Planned => {
    const some = inline.slice(part * maxPerReview, (part + 1) * maxPerReview)
    const op = operationId(input, channel.name, "Review", part)
    const comments = some.flatMap((finding) => {
      const marker = { op, fp: finding.fingerprint, scope: headScope(head) }
      return inlineOf(finding, renderProblem(input, channel, finding, marker, renderer))
    })
    const body = renderReviewBody(input, some.length === 0 ? shown.length : some.length, { op }, renderer)
    return { operationId: op, operation: { _tag: "Review", head, event, body, comments } }
  })
}

export const planReview = (
  renderer: ReviewHost,
  input: PublishInput,
  channel: ChannelConfig,
  parts: ChannelPlan
): ReadonlyArray<Planned> => {
  const { analysis, workspace } = input
  const isPull = isOnPull(input.change)
  const shown = shownBy(channel, analysis)
  const hasLines = parts.lineComments && channel.review_mode !== "comment" && isPull
  const settled = hasLines
    ? [...threadsOf(input, channel), ...(renderer.verdicts ? verdictOn(input, channel, shown.length) : [])]
    : []
  const policy = shown.length === 0 ? cleanPolicy(workspace, channel, analysis) : "publish"
  if (policy === "suppress") return settled
  const inline = hasLines
    ? shown.filter((finding) => finding.anchor !== undefined).slice(0, channel.max_comments ?? Number.POSITIVE_INFINITY)
    : []
  const hidden = analysis.findings.length - shown.length
  const plan: PlanInput = { input, channel, renderer, shown, hidden, inline, hasLines, policy }
  if (!isPull) return planCommitComment(plan)
  // A comment that only the review could hold must not be lost where the route gives this channel no summary.
  const summary = parts.summary || inline.length < shown.length ? [planSummary(plan)] : []
  return [...summary, ...planReviews(plan), ...settled]
}
