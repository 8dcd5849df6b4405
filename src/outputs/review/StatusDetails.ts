/**
 * Details that a host shows with the verdict of a review: the coverage, first the files with text that was not read, and remarks on lines for the
 * findings that the review publishes without a comment. Pure.
 */
import { isRefusedByBudget, openFindings } from "../../domain/Analysis.ts"
import type { Target } from "../../domain/Change.ts"
import type { Finding } from "../../domain/Problem.ts"
import { commentsIn } from "../../domain/Publication.ts"
import type { Publication, StatusAnnotation, StatusDetails } from "../../domain/Publication.ts"
import { labelsFor } from "../Labels.ts"
import { parseMarkers } from "../Marker.ts"
import type { PlannedReview } from "../Outputs.ts"
import { gfm } from "../SafeText.ts"
import { shorten } from "../text/Cut.ts"
import { inertText, plainLine, unlinked, withoutControls, withoutMarkers } from "../text/InertText.ts"
import { coverageView } from "../text/View.ts"

/** Maximum number of remarks in one request to GitHub, of their characters, and of those of the text. */
const maxAnnotations = 50
const maxTitle = 200
const maxMessage = 4000
const maxText = 60_000

/** Returns the fingerprints of the findings that a review lists, without those that get a comment at their lines. */
const withoutComment = (plan: ReadonlyArray<Publication>): ReadonlySet<string> => {
  const listed = new Set<string>()
  for (const { operation } of plan)
    if (operation._tag === "Summary") for (const { fp } of operation.problems?.found ?? []) listed.add(fp)
  for (const { operation } of plan)
    for (const { body } of commentsIn(operation)) listed.delete(parseMarkers(body).at(-1)?.fp ?? "")
  return listed
}

const toPlainText = (text: string): string => inertText(unlinked(withoutMarkers(withoutControls(text)))).trim()

const toAnnotation = ({ anchor, problem }: Finding): StatusAnnotation => {
  const line = anchor === undefined ? problem.line : anchor.side === "new" ? anchor.line : anchor.newLine
  const start = anchor?.side === "new" ? anchor.start : undefined
  const end = Math.max(1, line ?? 1)
  return {
    path: anchor?.path ?? problem.file,
    start: Math.min(Math.max(1, start ?? end), end),
    end,
    severity: problem.severity,
    title: plainLine(problem.title ?? problem.message).slice(0, maxTitle),
    message: toPlainText(problem.message.slice(0, maxMessage))
  }
}

/** `target`: of a merge group every problem that counts is remarked, because nothing else of its review is published. */
export const statusDetails = (
  { analysis, plan }: PlannedReview,
  language: string,
  { kind }: Pick<Target, "kind">
): StatusDetails => {
  const labels = labelsFor(language)
  const { coverage, findings } = analysis
  const unreadFirst = coverage.skipped.toSorted(
    (one, other) => Number(other.unread === true) - Number(one.unread === true)
  )
  const { left_out: leftOut, line } = coverageView({ ...coverage, skipped: unreadFirst }, labels, gfm)
  const list = leftOut.map(({ path, reason }) => `- ${path}: ${reason}`)
  const members = (analysis.members ?? []).map(
    ({ number, state }) => `- #${number}: ${labels.memberStates[state ?? "pending"]}`
  )
  const lines = [
    ...(isRefusedByBudget(analysis) ? [labels.cleanUnread] : []),
    line,
    ...(members.length === 0 ? [] : ["", `**${labels.members}**`, "", ...members]),
    ...(list.length === 0 ? [] : ["", `**${labels.leftOut}**`, "", ...list])
  ]
  const remarked = withoutComment(plan)
  const annotated =
    kind === "merge_group" ? openFindings(analysis) : findings.filter(({ fingerprint }) => remarked.has(fingerprint))
  const annotations = annotated.slice(0, maxAnnotations)
  return { text: shorten(lines.join("\n"), maxText), annotations: annotations.map(toAnnotation) }
}
