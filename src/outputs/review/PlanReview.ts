/**
 * Plans the operations that publish a review on a pull request or commit: one managed summary comment, reviews of at most 30
 * inline comments each, and updates of earlier reviews. The summary comes first, because comments that the host refuses at their
 * line are added to it. Where the host can edit the text of a review, the summary is the text of the first review of a change. Pure.
 */
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import { isOnPull } from "../../domain/Change.ts"
import { hasNews, isFirstRound, isRefusedByBudget, openPrivate } from "../../domain/Analysis.ts"
import { hasUnreadText, isMostlyRead, namesAll } from "../../domain/Coverage.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { InlineComment, Operation } from "../../domain/Publication.ts"
import type { ChannelPlan, Planned, PublishInput } from "../channels/Channel.ts"
import { labelsFor } from "../Labels.ts"
import { cleanPolicy } from "./NoProblems.ts"
import { operationId } from "../channels/OperationId.ts"
import { renameOp } from "../Marker.ts"
import { renderProblem, renderReviewBody, renderSummary } from "../text/Render.ts"
import type { Renderer } from "../text/Render.ts"
import { headScope, summaryFp, summaryScope } from "../channels/Scopes.ts"
import {
  countHidden,
  listPresent,
  listsAllProblems,
  selectInline,
  selectShown,
  trackedFindings,
  visibleFindings,
  visibleFolded,
  visibleLate
} from "./VisibleFindings.ts"
import { toSummaryProblems } from "../text/FindingList.ts"
import { fillAlone } from "../text/FillSummary.ts"

/** Maximum number of comments in one review call. */
const maxPerReview = 30

export interface ReviewHost extends Renderer {
  /** False where the host shows HTML as text. */
  readonly hasHtml: boolean
  /** True where the host has comments on commits, on which reviews of pushes are published. */
  readonly commits: boolean
  /** True where reviews can request changes and approve. */
  readonly verdicts: boolean
  /** True where the text of a review can be found and edited later, so that it can be the summary. */
  readonly editsReviews: boolean
}

const toInlineComment = (finding: Finding, body: string): ReadonlyArray<InlineComment> =>
  finding.anchor === undefined ? [] : [{ ...finding.anchor, body }]

/** Plans the update of line comments of earlier reviews; a skipped review updates none. */
export const planThreads = (input: PublishInput, channel: ChannelConfig): ReadonlyArray<Planned> => {
  const { analysis, head } = input
  if (analysis.skipped !== undefined) return []
  const { reviewed, skipped } = analysis.coverage
  const whole = listsAllProblems(input) && namesAll(analysis.coverage)
  const operation: Operation = {
    _tag: "Threads",
    head,
    present: listPresent(analysis),
    analysed: whole ? reviewed : [],
    changed: whole ? [...reviewed, ...skipped.map(({ path }) => path)] : []
  }
  return [{ operationId: operationId(input, channel.name, "Threads", 0), operation }]
}

/** Plans the end of an earlier request for changes after a clean review; an incomplete review is not clean. */
const planVerdict = (input: PublishInput, channel: ChannelConfig, visible: number): ReadonlyArray<Planned> => {
  const { analysis, head, workspace } = input
  const isClean =
    visible === 0 &&
    openPrivate(analysis).length === 0 &&
    listsAllProblems(input) &&
    isMostlyRead(analysis.coverage) &&
    !hasUnreadText(analysis.coverage)
  if (!isClean || channel.review_event !== "REQUEST_CHANGES") return []
  const operation: Operation = {
    _tag: "Verdict",
    head,
    approves: channel.review_approve === "when_clean",
    body: labelsFor(workspace.review.output_language).lifted(head.slice(0, 12))
  }
  return [{ operationId: operationId(input, channel.name, "Verdict", 0), operation }]
}

/** Inputs of a plan. */
interface PlanInput {
  readonly input: PublishInput
  readonly channel: ChannelConfig
  readonly renderer: ReviewHost
  readonly visible: ReadonlyArray<Finding>
  readonly hidden: number
  /** Findings with a comment at their line. */
  readonly inline: ReadonlyArray<Finding>
  /** True when the review may have comments at lines. */
  readonly hasLines: boolean
  readonly hasSummary: boolean
  readonly policy: ReturnType<typeof cleanPolicy> | "publish"
}

const planCommitComment = ({
  input,
  channel,
  renderer,
  visible,
  hidden,
  policy
}: PlanInput): ReadonlyArray<Planned> => {
  if (policy === "update") return []
  const op = operationId(input, channel.name, "CommitComment", 0)
  const rendered = renderSummary(
    input,
    channel,
    { visible, inline: [], hidden, late: [], folded: visibleFolded(channel, input.analysis) },
    { op },
    renderer
  )
  const style = { language: input.workspace.review.output_language, ...renderer }
  const body = fillAlone(rendered, toSummaryProblems(input, selectShown(channel, visible, [], false)), style)
  return [{ operationId: op, operation: { _tag: "CommitComment", head: input.head, body } }]
}

const planSummary = ({ input, channel, renderer, visible, hidden, inline, hasLines, policy }: PlanInput): Planned => {
  const op = operationId(input, channel.name, "Summary", 0)
  // What is published again after a ruling updates the summary of its review.
  const own = operationId({ ...input, ruling: undefined }, channel.name, "Summary", 0)
  const scopeId = channel.review_update_strategy === "always_new" ? own : ""
  const scope = summaryScope(input.workspace.id, channel.name, scopeId)
  const body = renderSummary(
    input,
    channel,
    {
      visible,
      inline,
      hidden,
      late: visibleLate(channel, input.analysis),
      folded: visibleFolded(channel, input.analysis)
    },
    { op, fp: summaryFp, scope },
    renderer
  )
  const shown = selectShown(channel, trackedFindings(channel, input.analysis), inline, hasLines)
  const problems = toSummaryProblems(input, shown)
  const style = { language: input.workspace.review.output_language, ...renderer }
  return {
    operationId: op,
    operation: {
      _tag: "Summary",
      head: input.head,
      // One that is never sent is filled here.
      body: input.workspace.outputs.shadow ? fillAlone(body, problems, style) : body,
      problems,
      ...(policy === "update" ? { onlyUpdate: true } : {})
    }
  }
}

const planReviews = ({
  input,
  channel,
  renderer,
  visible,
  inline,
  hasLines,
  hasSummary
}: PlanInput): ReadonlyArray<Planned> => {
  const { analysis, head, workspace } = input
  const event = visible.length > 0 || openPrivate(analysis).length > 0 ? (channel.review_event ?? "COMMENT") : "COMMENT"
  const isReviewed = !isRefusedByBudget(analysis)
  const isNews = hasLines && isReviewed && hasNews(analysis)
  const postsClean = isNews && !hasSummary && visible.length === 0 && !workspace.review.skip_lgtm
  // A verdict is also published where no problem has a line.
  const postsVerdict = isNews && renderer.verdicts && event === "REQUEST_CHANGES"
  const count = Math.max(Math.ceil(inline.length / maxPerReview), postsClean || postsVerdict ? 1 : 0)
  return Array.from({ length: count }, (_, part): Planned => {
    const batch = inline.slice(part * maxPerReview, (part + 1) * maxPerReview)
    const op = operationId(input, channel.name, "Review", part)
    const comments = batch.flatMap((finding) => {
      const marker = { op, fp: finding.fingerprint, scope: headScope(head) }
      return toInlineComment(finding, renderProblem(input, channel, finding, marker, renderer))
    })
    const body = renderReviewBody(input, { hasComments: batch.length > 0, hasSummary }, { op }, renderer)
    return { operationId: op, operation: { _tag: "Review", head, event, body, comments } }
  })
}

/**
 * Makes the summary the text of the review that follows it, in the first review of a change as far as the analysis shows. A review without
 * comments at lines stays apart: the host does not count it, so that a summary in it would be searched for at every review.
 */
const joinFirst = (
  { channel, input, renderer }: PlanInput,
  summary: Planned,
  reviews: ReadonlyArray<Planned>
): ReadonlyArray<Planned> => {
  const { isRepeated = false, ruling, analysis } = input
  const isFirst = !isRepeated && ruling === undefined && isFirstRound(analysis)
  const [first, ...others] = reviews
  if (
    !renderer.editsReviews ||
    !isFirst ||
    channel.review_update_strategy === "always_new" ||
    summary.operation._tag !== "Summary" ||
    first?.operation._tag !== "Review" ||
    first.operation.comments.length === 0
  )
    return [summary, ...reviews]
  const { body, comments, event } = first.operation
  // The comments name the row that writes them.
  const written = comments.map((comment) => ({ ...comment, body: renameOp(comment.body, first, summary) }))
  const review = { operationId: first.operationId, event, body, comments: written }
  return [{ ...summary, operation: { ...summary.operation, review } }, ...others]
}

export const planReview = (
  renderer: ReviewHost,
  input: PublishInput,
  channel: ChannelConfig,
  parts: ChannelPlan
): ReadonlyArray<Planned> => {
  const { analysis, workspace } = input
  const isPull = isOnPull(input.change)
  const visible = visibleFindings(channel, analysis)
  const hasLines = parts.lineComments && channel.review_mode !== "comment" && isPull
  const settled = hasLines
    ? [...planThreads(input, channel), ...(renderer.verdicts ? planVerdict(input, channel, visible.length) : [])]
    : []
  const policy = visible.length === 0 ? cleanPolicy(workspace, channel, analysis) : "publish"
  if (policy === "suppress") return settled
  const inline = hasLines ? selectInline(channel, visible) : []
  const hidden = countHidden(channel, analysis)
  // Findings without a line need the summary, even where the route selects none for this channel.
  const needsSummary = parts.summary || inline.length < visible.length
  const repeatsSummary = channel.review_update_strategy === "always_new" && !hasNews(analysis)
  const hasSummary = needsSummary && !repeatsSummary
  const plan: PlanInput = { input, channel, renderer, visible, hidden, inline, hasLines, hasSummary, policy }
  if (!isPull) return planCommitComment(plan)
  const reviews = planReviews(plan)
  const published = hasSummary ? joinFirst(plan, planSummary(plan), reviews) : reviews
  return [...published, ...settled]
}
