/**
 * Writes the summary of a change, which every later review updates. The first one and its comments at lines are one write where the host can
 * edit the text of a review. Where a summary exists or the host refuses that write, the summary is a comment, and its review follows as an
 * operation of its own.
 */
import { Effect } from "effect"
import type { Change } from "../../domain/Change.ts"
import type { Operation, Publication } from "../../domain/Publication.ts"
import type { ForgeClient } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { TakesLineComments } from "../../forge/WriteOwner.ts"
import type { Writing } from "../../forge/WriteOwner.ts"
import { unwritten } from "../channels/Channel.ts"
import type { Planned, Sent } from "../channels/Channel.ts"
import { summaryFp } from "../channels/Scopes.ts"
import { parseMarkers, renameOp, textBelowMarkers, toSearchText } from "../Marker.ts"
import { readFingerprint } from "./ChangedComments.ts"
import { overEdited, withNotes } from "./KeptNotes.ts"
import type { SummaryWords } from "./KeptNotes.ts"
import { makePendingPolicy } from "./PendingTexts.ts"
import { findSummary, listMissing, requireNumber } from "./ReviewSend.ts"
import type { EarlierTexts, ReviewOperation } from "./ReviewSend.ts"

type SummaryOperation = Extract<Operation, { readonly _tag: "Summary" }>

/** Returns the review of a summary as an operation of its own, which its comments then name; empty without one. */
const planApart = ({ operation, operationId }: Publication): ReadonlyArray<Planned> => {
  if (operation._tag !== "Summary" || operation.review === undefined) return []
  const { operationId: own, ...review } = operation.review
  const comments = review.comments.map((comment) => ({
    ...comment,
    body: renameOp(comment.body, { operationId }, { operationId: own })
  }))
  return [{ operationId: own, operation: { _tag: "Review", head: operation.head, ...review, comments } }]
}

/** True where the host refuses a review for good; a failure that ends is repeated. */
const isRefusal = ({ reason, status }: ForgeError): boolean =>
  reason === "forbidden" ||
  reason === "not_found" ||
  reason === "invalid" ||
  reason === "pending_review" ||
  // Without a status it is the service's own: the change has a newer head.
  (reason === "conflict" && status !== undefined)

/** Posts the summary as the text of its review. Returns undefined where some of the comments exist or the host refuses it. */
const postJoined = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  previous: Publication | undefined,
  earlier: EarlierTexts,
  { body, head, review }: SummaryOperation
): Effect.fn.Return<Sent | undefined, ForgeError, Writing> {
  if (review === undefined || !(yield* yield* TakesLineComments)) return undefined
  const { comments, event } = review
  const joined: ReviewOperation = { _tag: "Review", head, event, body, comments }
  const isResumed = publication.status === "unknown" || publication.attempts > 0
  const pending = makePendingPolicy([body, ...comments.map((comment) => comment.body)], isResumed)
  const number = yield* requireNumber(change)
  const created = yield* listMissing(change, publication, previous, earlier, joined).pipe(
    Effect.flatMap((missing) =>
      missing.pending.length < comments.length
        ? Effect.undefined
        : client.createReview(change.repo, number, { head, event, body, comments, pending })
    ),
    Effect.catchIf(isRefusal, () => Effect.undefined)
  )
  if (created === undefined) return undefined
  const { hostId, refused, url } = created
  const taken = comments.filter((comment) => !refused.includes(comment))
  const posted = taken.flatMap((comment) => readFingerprint(comment) ?? [])
  return { hostId, url, posted, next: refused.length === 0 ? [] : planApart(publication) }
})

export const sendSummary = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  operation: SummaryOperation,
  previous: Publication | undefined,
  words: SummaryWords,
  earlier: EarlierTexts
) {
  const number = yield* requireNumber(change)
  const scope = parseMarkers(operation.body)[0]?.scope
  const isSame = ({ operation: before }: Publication) =>
    before._tag === "Summary" && before.body.includes(toSearchText({ fp: summaryFp, scope }))
  const knownHostId = previous !== undefined && isSame(previous) ? previous.hostId : undefined
  const next = planApart(publication)
  const update = (hostId: string, body: string) =>
    Effect.map(client.updateComment(change.repo, number, hostId, body), (written): Sent => ({ ...written, next }))
  // Another installation may have written it, or this one before its records were lost.
  const findOrCreate: Effect.Effect<Sent, ForgeError, Writing> = Effect.gen(function* () {
    const summary = earlier.hasNone ? undefined : yield* findSummary(client, change, { scope }, earlier)
    if (summary !== undefined)
      return yield* update(summary.hostId, withNotes(textBelowMarkers(summary.body) ?? "", operation.body, words))
    if (operation.onlyUpdate === true) return unwritten(publication.operationId, { _tag: "NoSummaryToUpdate" })
    const joined = yield* postJoined(client, change, publication, previous, earlier, operation)
    return joined ?? { ...(yield* client.createComment(change.repo, number, operation.body)), next }
  })
  if (knownHostId === undefined || previous === undefined) return yield* findOrCreate
  const body = yield* overEdited(client, change, number, knownHostId, previous, operation.body, words)
  return yield* Effect.catchIf(
    update(knownHostId, body),
    (error) => error.reason === "not_found",
    () => findOrCreate
  )
})

/**
 * Finds what a summary wrote: with its review, if the host has comments that name the summary, else without it. Its review then follows as an
 * operation of its own.
 */
export const findSummaryWritten = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  publication: Publication,
  earlier: Pick<EarlierTexts, "editsReviews" | "texts">
): Effect.fn.Return<Sent | undefined, ForgeError> {
  const { operationId: op } = publication
  const found = yield* findSummary(client, change, { op }, earlier)
  const next = planApart(publication)
  if (found === undefined || next.length === 0) return found
  const posted = (yield* earlier.texts).flatMap(({ body }) => {
    const marker = parseMarkers(body).find((one) => one.op === op)
    return marker?.fp === undefined || marker.fp === summaryFp ? [] : [marker.fp]
  })
  return posted.length === 0 ? { ...found, next } : { ...found, posted }
})
