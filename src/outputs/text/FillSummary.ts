/**
 * Fills the slots of a summary with its findings right before it is sent, because only the host has the dismissals and the threads. A first
 * review has no earlier summary and makes no request.
 */
import { Effect } from "effect"
import type { ListedFinding, Operation, Publication, SummaryProblems } from "../../domain/Publication.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { labelsFor } from "../Labels.ts"
import { cut } from "./Cut.ts"
import { compareReviews, listFindings, toListed } from "./FindingList.ts"
import type { FindingRow, HostProblem } from "./FindingList.ts"
import { renderList } from "./ListText.ts"
import type { ListStyle } from "./ListText.ts"
import { sinceText } from "./SinceLast.ts"
import { tidy } from "./Tidy.ts"
import { listSlot, sinceSlot } from "./View.ts"

type SummaryOperation = Extract<Operation, { readonly _tag: "Summary" }>

export interface SummaryStyle extends ListStyle {
  /** Maximum length of a body at the host. */
  readonly limit: number
}

/** Returns the findings of the previous summary. The outcome of its write may have been unknown, without a list. */
const listBefore = (previous: Publication | undefined): ReadonlyArray<ListedFinding> | undefined => {
  if (previous?.operation._tag !== "Summary") return undefined
  const { problems } = previous.operation
  if (previous.listed !== undefined) return previous.listed
  return problems && toListed(listFindings({ before: [], review: problems, threads: [] }))
}

const withSlots = (
  body: string,
  rows: ReadonlyArray<FindingRow>,
  since: string,
  clean: string | undefined,
  style: SummaryStyle
) => {
  if (!body.includes(listSlot) && !body.includes(sinceSlot)) return body
  const filled = body.replaceAll(sinceSlot, () => since).replaceAll(listSlot, () => renderList(rows, clean, style))
  return cut(tidy(filled), style.limit, labelsFor(style.language).cut)
}

/** Returns the text of a review that is compared with no other one. */
export const fillAlone = (body: string, review: SummaryProblems, style: SummaryStyle): string =>
  withSlots(body, listFindings({ before: [], review, threads: [] }), "", review.clean, style)

/** Returns the body to send, truncated to the host's limit, and what is recorded of its list. `runId`: the review that is listed. */
export const fillSummary = Effect.fnUntraced(function* (
  threads: Effect.Effect<ReadonlyArray<HostProblem>, ForgeError>,
  { body, problems: review }: Pick<SummaryOperation, "body" | "problems">,
  previous: Publication | undefined,
  style: SummaryStyle,
  runId: string
): Effect.fn.Return<{ readonly body: string; readonly listed: ReadonlyArray<ListedFinding> | undefined }, ForgeError> {
  if (review === undefined) return { body, listed: undefined }
  const before = listBefore(previous)
  const atHost =
    before === undefined
      ? []
      : yield* Effect.catchIf(
          threads,
          // A summary is published even if the threads cannot be read.
          ({ reason }) => reason === "forbidden" || reason === "not_found" || reason === "invalid",
          () => Effect.succeed([])
        )
  const input = { before: before ?? [], review, threads: atHost, isSameReview: previous?.runId === runId }
  const compared = compareReviews(input)
  const rows = listFindings(input, compared)
  const since = before === undefined ? "" : sinceText(compared, labelsFor(style.language))
  return { body: withSlots(body, rows, since, review.clean, style), listed: toListed(rows) }
})
