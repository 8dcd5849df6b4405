/** Reviews on pull requests and commits, for every host: planned by PlanReview.ts, sent and found here. */
import { Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import type { Publication } from "../domain/Publication.ts"
import type { CommitComments, ForgeClient } from "../forge/Forge.ts"
import type { ChannelKind, Sent } from "./Channel.ts"
import { foreign } from "./Foreign.ts"
import { labelsFor } from "./Labels.ts"
import { needle } from "./Marker.ts"
import { mentioned } from "./Mention.ts"
import { isOnPull, planReview } from "./PlanReview.ts"
import type { ReviewHost } from "./PlanReview.ts"
import { findReview, numberOf, sendReview, sendSummary } from "./ReviewSend.ts"
import { withSince } from "./SinceLast.ts"
import { ignoredDismissals, makeStandingThreads } from "./StandingThreads.ts"
import { resolveThread, settleThreads } from "./Threads.ts"
import { sendVerdict } from "./Verdict.ts"

const sendWith = (renderer: ReviewHost, standingOf: ReturnType<typeof makeStandingThreads>): ChannelKind["send"] =>
  Effect.fnUntraced(function* (reach, publication, previous) {
    const { change } = reach
    const client = yield* reach.client
    const { operation } = publication
    let ignored: Sent["ignoredDismissals"]
    const standing = Effect.tap(standingOf(client, change, reach.workspace.review.dismissal, publication), (threads) =>
      Effect.sync(() => (ignored = ignoredDismissals(threads)))
    )
    switch (operation._tag) {
      case "Review": {
        const sent = yield* sendReview(client, change, publication, previous, standing, operation, renderer)
        return { ...sent, ignoredDismissals: ignored }
      }
      case "Summary": {
        const named = { ...operation, body: yield* mentioned(reach, operation) }
        const words = { labels: labelsFor(reach.workspace.review.output_language), limit: renderer.limit }
        const body = yield* withSince(standing, named, previous, words)
        const sent = yield* sendSummary(client, change, publication, { ...operation, body }, previous)
        return { ...sent, ignoredDismissals: ignored }
      }
      case "Threads": {
        const sent = yield* settleThreads(reach, standing, publication, operation, renderer.limit)
        return { ...sent, ignoredDismissals: ignored }
      }
      case "Thread":
        return yield* resolveThread(client, change, operation)
      case "Verdict":
        return yield* sendVerdict(client, change, publication.operationId, operation)
      case "CommitComment": {
        const comments = yield* commitComments(client, publication)
        // A comment may exist that the records do not have: they were lost, or another installation wrote it.
        const existing = previous === undefined ? yield* findCommitComment(comments, change, publication) : undefined
        return existing ?? (yield* comments.create(change.repo, operation.head, yield* mentioned(reach, operation)))
      }
      default:
        return yield* foreign(publication)
    }
  })

const findOperation: ChannelKind["find"] = Effect.fnUntraced(function* (reach, publication) {
  const { change } = reach
  const client = yield* reach.client
  const { operation } = publication
  switch (operation._tag) {
    case "Review":
      return yield* findReview(client, change, publication, operation)
    case "Summary":
      return yield* client.findComment(change.repo, yield* numberOf(change), needle({ op: publication.operationId }))
    case "Threads":
    case "Thread":
    case "Verdict":
      // Reading and resolving can be repeated.
      return undefined
    case "CommitComment": {
      const comments = yield* commitComments(client, publication)
      return yield* findCommitComment(comments, change, publication)
    }
    default:
      return yield* foreign(publication)
  }
})

const findCommitComment = (comments: CommitComments, { repo }: Change, { operation, operationId: op }: Publication) =>
  operation._tag === "CommitComment" ? comments.find(repo, operation.head, needle({ op })) : Effect.succeed(undefined)

const commitComments = (client: ForgeClient, publication: Publication) =>
  client.commitComments === undefined ? Effect.fail(foreign(publication)) : Effect.succeed(client.commitComments)

export const reviewChannel = (renderer: ReviewHost): ChannelKind => ({
  serves: (change) => isOnPull(change) || (renderer.commits && change.target.kind !== "issue"),
  plan: (input, channel, parts) => planReview(renderer, input, channel, parts),
  send: sendWith(renderer, makeStandingThreads()),
  find: findOperation
})
