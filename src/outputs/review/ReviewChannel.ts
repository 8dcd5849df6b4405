/** Reviews on pull requests and commits, for every host: planned by PlanReview.ts, sent and searched for here. */
import { Effect } from "effect"
import { isOnPull } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import type { Publication, Operation } from "../../domain/Publication.ts"
import type { CommitComments, ForgeClient } from "../../forge/Forge.ts"
import type { ChannelContext, ChannelKind, Sent } from "../channels/Channel.ts"
import { wrongChannelKind } from "../channels/WrongChannelKind.ts"
import { labelsFor } from "../Labels.ts"
import { HasNoOthers } from "../../forge/WriteOwner.ts"
import { toSearchText, parseMarkers, renderMarker } from "../Marker.ts"
import { fillMentions } from "../text/Mention.ts"
import { planReview } from "./PlanReview.ts"
import type { ReviewHost } from "./PlanReview.ts"
import { earlierTexts, findReview, requireNumber, sendReview } from "./ReviewSend.ts"
import { findSummaryWritten, sendSummary } from "./SummarySend.ts"
import { fillSummary } from "../text/FillSummary.ts"
import type { HostProblem } from "../text/FindingList.ts"
import { threadUrl } from "../text/Links.ts"
import { listIgnoredDismissals, listReactions, makeExistingThreads } from "../ExistingThreads.ts"
import type { ExistingThreads } from "../ExistingThreads.ts"
import { markThreads, resolveThread, settleThreads } from "./Threads.ts"
import { OperationId } from "../../domain/Keys.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { HostWrite } from "../../forge/HostWrite.ts"
import type { Writing } from "../../forge/WriteOwner.ts"
import { unwritten } from "../channels/Channel.ts"
import { makePendingPolicy } from "./PendingTexts.ts"

/**
 * Ends the own request for changes after a clean review of a later head: dismisses it or, where the channel is configured for it,
 * approves the change. Only reviews with the marker of the service are dismissed, because a person may use the same account.
 */

type VerdictOperation = Extract<Operation, { readonly _tag: "Verdict" }>

const sendVerdict = Effect.fnUntraced(function* (
  client: ForgeClient,
  change: Change,
  operationId: OperationId,
  { head, approves, body }: VerdictOperation
): Effect.fn.Return<Sent, ForgeError, Writing> {
  const done: HostWrite = { hostId: operationId, url: undefined }
  const none = unwritten(operationId, { _tag: "NoChangeRequest" })
  const { verdicts } = client
  if (verdicts === undefined) return none
  const number = yield* requireNumber(change)
  const requests = (yield* verdicts.requests(change.repo, number)).filter((one) => parseMarkers(one.body).length > 0)
  if (requests.length === 0) return none
  const dismiss = Effect.gen(function* () {
    for (const { hostId } of requests) yield* verdicts.dismiss(change.repo, number, hostId, body)
    return done
  })
  if (!approves) return yield* dismiss
  const text = `${body}\n\n${renderMarker({ op: operationId })}`
  const pending = makePendingPolicy([text], false)
  const approval = { head, event: "APPROVE", body: text, comments: [], pending } as const
  return yield* client.createReview(change.repo, number, approval).pipe(
    // Hosts refuse approvals of an own change, and some accounts may not approve.
    Effect.catchIf(
      ({ reason }) => reason === "invalid" || reason === "forbidden",
      () => dismiss
    )
  )
})

const toStyle = ({ workspace }: ChannelContext, { hasHtml, limit }: ReviewHost) => ({
  language: workspace.review.output_language,
  hasHtml,
  limit
})

/** Adds the links of threads. The address of a change is that of its own repository. */
const linkThreads = ({ change, reviewed }: ChannelContext, threads: ExistingThreads) =>
  Effect.map(threads, (all) =>
    all.map((one): HostProblem => ({
      ...one,
      url: change.repo.fullName === reviewed.repo.fullName ? threadUrl(change, one.thread) : undefined
    }))
  )

const sendWith = (renderer: ReviewHost, loadThreads: ReturnType<typeof makeExistingThreads>): ChannelKind["send"] =>
  Effect.fnUntraced(function* (context, publication, previous) {
    const { change } = context
    const client = yield* context.client
    const { operation } = publication
    const words = { labels: labelsFor(context.workspace.review.output_language), limit: renderer.limit }
    const style = toStyle(context, renderer)
    const isFirst = previous === undefined && publication.attempts === 0 && publication.status === "pending"
    const isText = operation._tag === "Review" || operation._tag === "Summary"
    const hasNoOthers = isFirst && isText && (yield* yield* HasNoOthers)
    let people: Pick<Sent, "ignoredDismissals" | "reactions"> = {}
    const threads = Effect.tap(
      loadThreads(client, change, context.workspace.review.dismissal, { ...publication, hasNoOthers }, previous),
      (loaded) =>
        Effect.sync(() => {
          people = { ignoredDismissals: listIgnoredDismissals(loaded), reactions: listReactions(loaded) }
        })
    )
    const { editsReviews } = renderer
    const earlier = { threads, hasNone: hasNoOthers, texts: yield* earlierTexts(client, change), editsReviews }
    switch (operation._tag) {
      case "Review": {
        const sent = yield* sendReview(client, change, publication, previous, earlier, operation, words)
        return { ...sent, ...people }
      }
      case "Summary": {
        const withMentions = { ...operation, body: yield* fillMentions(context, operation) }
        const { body, listed } = yield* fillSummary(
          linkThreads(context, threads),
          withMentions,
          previous,
          style,
          publication.runId
        )
        const withBody = { ...operation, body }
        const sent = yield* sendSummary(client, change, publication, withBody, previous, words, earlier)
        return { ...sent, ...people, listed }
      }
      case "Threads": {
        const sent = yield* settleThreads(context, threads, publication, operation, renderer.limit)
        return { ...sent, ...people }
      }
      case "Thread":
        return yield* resolveThread(client, change, operation)
      case "Verdict":
        return yield* sendVerdict(client, change, publication.operationId, operation)
      case "CommitComment": {
        const comments = yield* commitComments(client, publication)
        // A comment may exist that the records do not contain: they were lost, or another installation wrote it.
        const existing = previous === undefined ? yield* findCommitComment(comments, change, publication) : undefined
        return (
          existing ?? (yield* comments.create(change.repo, operation.head, yield* fillMentions(context, operation)))
        )
      }
      default:
        return yield* wrongChannelKind(publication)
    }
  })

const findWith = (renderer: ReviewHost, loadThreads: ReturnType<typeof makeExistingThreads>): ChannelKind["find"] =>
  Effect.fnUntraced(function* (context, publication, previous) {
    const { change } = context
    const client = yield* context.client
    const { operation } = publication
    const earlier = { texts: yield* earlierTexts(client, change), editsReviews: renderer.editsReviews }
    switch (operation._tag) {
      case "Review":
        return yield* findReview(client, change, publication, operation, earlier)
      case "Summary": {
        const found = yield* findSummaryWritten(client, change, publication, earlier)
        if (found === undefined) return undefined
        const threads = loadThreads(client, change, context.workspace.review.dismissal, publication, previous)
        const style = toStyle(context, renderer)
        const { listed } = yield* fillSummary(
          linkThreads(context, threads),
          operation,
          previous,
          style,
          publication.runId
        )
        return { ...found, listed }
      }
      case "Threads":
      case "Thread":
      case "Verdict":
        // Reading and resolving are idempotent.
        return undefined
      case "CommitComment": {
        const comments = yield* commitComments(client, publication)
        return yield* findCommitComment(comments, change, publication)
      }
      default:
        return yield* wrongChannelKind(publication)
    }
  })

const findCommitComment = (comments: CommitComments, { repo }: Change, { operation, operationId: op }: Publication) =>
  operation._tag === "CommitComment"
    ? comments.find(repo, operation.head, toSearchText({ op }))
    : Effect.succeed(undefined)

const commitComments = (client: ForgeClient, publication: Publication) =>
  client.commitComments === undefined
    ? Effect.fail(wrongChannelKind(publication))
    : Effect.succeed(client.commitComments)

export const reviewChannel = (renderer: ReviewHost): ChannelKind => {
  const loadThreads = makeExistingThreads()
  return {
    serves: (change) => isOnPull(change) || (renderer.commits && change.target.kind !== "issue"),
    plan: (input, channel, parts) => planReview(renderer, input, channel, parts),
    send: sendWith(renderer, loadThreads),
    find: findWith(renderer, loadThreads),
    reactions: Effect.fnUntraced(function* (context, review) {
      const threads = yield* loadThreads(
        yield* context.client,
        context.change,
        context.workspace.review.dismissal,
        review
      )
      return listReactions(threads)
    }),
    mark: (context, finding) => markThreads(context, finding, renderer.limit)
  }
}
