/**
 * Plans the operations that publish a review on a review of Swarm: one summary comment that later reviews update, comments at lines, and
 * updates of earlier ones. Pure.
 */
import { joinDepot } from "../../domain/DepotPath.ts"
import type { Change } from "../../domain/Change.ts"
import type { Finding } from "../../domain/Problem.ts"
import type { InlineComment } from "../../domain/Publication.ts"
import type { SwarmPosition } from "../../forge/swarm/Client.ts"
import { swarmProblemTemplate, swarmSummaryTemplate } from "../text/BuiltIn.ts"
import type { ChannelKind, Planned, PublishInput } from "../channels/Channel.ts"
import { cleanPolicy } from "../review/NoProblems.ts"
import { operationId } from "../channels/OperationId.ts"
import { planThreads } from "../review/PlanReview.ts"
import { renderProblem, renderSummary } from "../text/Render.ts"
import type { Renderer } from "../text/Render.ts"
import type { SummaryStyle } from "../text/FillSummary.ts"
import { summaryFp } from "../channels/Scopes.ts"
import { toSummaryProblems } from "../text/FindingList.ts"
import {
  countHidden,
  selectInline,
  selectShown,
  trackedFindings,
  visibleFindings,
  visibleFolded,
  visibleLate
} from "../review/VisibleFindings.ts"
import { swarmScope } from "./OwnComments.ts"

/** Maximum number of comments in one operation. */
const maxPerOperation = 30

/** Swarm documents no maximum length of a comment; longer ones are not readable either. */
export const swarmRenderer: Renderer & Pick<SummaryStyle, "hasHtml"> = {
  limit: 30_000,
  suggestions: "diff",
  hasHtml: false,
  summary: swarmSummaryTemplate,
  problem: swarmProblemTemplate
}

/** Changelists of Perforce, submitted or shelved. */
export const servesSwarm = ({ headRef, provider, target }: Change): boolean =>
  provider === "perforce" && target.kind !== "issue" && (headRef === undefined || headRef.startsWith("//"))

const planProblems = (
  input: PublishInput,
  channel: Parameters<ChannelKind["plan"]>[1],
  inline: ReadonlyArray<Finding>
): ReadonlyArray<Planned> =>
  Array.from({ length: Math.ceil(inline.length / maxPerOperation) }, (_, part): Planned => {
    const op = operationId(input, channel.name, "Review", part)
    const scope = swarmScope(input.change, channel.name)
    const comments = inline
      .slice(part * maxPerOperation, (part + 1) * maxPerOperation)
      .flatMap((finding): ReadonlyArray<InlineComment> => {
        const { anchor, fingerprint: fp } = finding
        if (anchor === undefined) return []
        const marker = { op, fp, scope, file: anchor.path }
        return [{ ...anchor, body: renderProblem(input, channel, finding, marker, swarmRenderer) }]
      })
    return { operationId: op, operation: { _tag: "Review", head: input.head, event: "COMMENT", body: "", comments } }
  })

export const planSwarm: ChannelKind["plan"] = (input, channel, parts) => {
  const { analysis, workspace, change, head } = input
  const visible = visibleFindings(channel, analysis)
  const settled = parts.lineComments ? planThreads(input, channel) : []
  const policy = visible.length === 0 ? cleanPolicy(workspace, channel, analysis) : "publish"
  if (policy === "suppress") return settled
  const inline = parts.lineComments ? selectInline(channel, visible) : []
  const problems = planProblems(input, channel, inline)
  // Findings without a line need the summary, even where the route selects none for this channel.
  if (!parts.summary && inline.length === visible.length) return [...problems, ...settled]
  const op = operationId(input, channel.name, "Summary", 0)
  const marker = { op, fp: summaryFp, scope: swarmScope(change, channel.name) }
  const hidden = countHidden(channel, analysis)
  const summary: Planned = {
    operationId: op,
    operation: {
      _tag: "Summary",
      head,
      body: renderSummary(
        input,
        channel,
        { visible, inline, hidden, late: visibleLate(channel, analysis), folded: visibleFolded(channel, analysis) },
        marker,
        swarmRenderer
      ),
      problems: toSummaryProblems(
        input,
        selectShown(channel, trackedFindings(channel, analysis), inline, parts.lineComments)
      ),
      ...(policy === "update" ? { onlyUpdate: true } : {})
    }
  }
  return [summary, ...problems, ...settled]
}

/** Returns where Swarm shows a comment: in the depot file, at a line of the new or of the old version. */
export const toPosition = ({ headRef = "" }: Change, { line, path, side }: InlineComment): SwarmPosition => ({
  file: joinDepot(headRef, path),
  ...(side === "new" ? { rightLine: line } : { leftLine: line })
})
