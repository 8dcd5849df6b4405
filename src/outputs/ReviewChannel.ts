/**
 * Reviews on a pull request, for every host: one managed summary comment, and reviews that carry at most 30 inline comments each. The
 * summary comes first, so that a comment that the host will not take at its line has a place to go.
 */
import { Effect } from "effect"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Change } from "../domain/Change.ts"
import type { InlineComment, Operation, Publication } from "../domain/Publication.ts"
import type { Finding } from "../domain/Problem.ts"
import type { ForgeClient } from "../forge/Forge.ts"
import type { ChannelKind, Planned, PublishInput } from "./Channel.ts"
import { foreign } from "./Foreign.ts"
import { labelsFor } from "./Labels.ts"
import { needle } from "./Marker.ts"
import { mentioned } from "./Mention.ts"
import { publishesClean } from "./NoProblems.ts"
import { operationId } from "./OperationId.ts"
import { renderProblem, renderReviewBody, renderSummary } from "./Render.ts"
import type { Renderer } from "./Render.ts"
import { findReview, numberOf, sendReview, sendSummary } from "./ReviewSend.ts"
import { problemsOf, withSince } from "./SinceLast.ts"
import { resolveThread, settleThreads } from "./Threads.ts"
import { namesAll, shownBy } from "./Shown.ts"
import { headScope, summaryFp, summaryScope } from "./Scopes.ts"
import { makeStandingThreads } from "./StandingThreads.ts"

/** Comments of one review call (decisions section 8). */
const mostPerReview = 30

const inlineOf = (finding: Finding, body: string): ReadonlyArray<InlineComment> =>
  finding.anchor === undefined ? [] : [{ ...finding.anchor, body }]

export interface ReviewHost extends Renderer {
  /** The host takes comments on commits, so reviews of what was pushed have a place there. */
  readonly commits: boolean
}

const onPull = ({ target }: Change): boolean => target.kind === "pull_request" && target.number !== undefined

/** Settles what earlier reviews said at lines; a review that says nothing about the change settles nothing. */
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

export const reviewChannel = (renderer: ReviewHost): ChannelKind => channelOf(renderer, makeStandingThreads())

const channelOf = (renderer: ReviewHost, standingOf: ReturnType<typeof makeStandingThreads>): ChannelKind => ({
  serves: (change) => onPull(change) || (renderer.commits && change.target.kind !== "issue"),
  plan: (input, channel, parts) => {
    const { analysis, head, workspace } = input
    const shown = shownBy(channel, analysis)
    const hidden = analysis.findings.length - shown.length
    const lines = parts.lineComments && channel.review_mode !== "comment" && onPull(input.change)
    const settled = lines ? threadsOf(input, channel) : []
    if (shown.length === 0 && !publishesClean(workspace.outputs, channel, analysis)) return settled

    if (!onPull(input.change)) {
      const op = operationId(input, channel.name, "CommitComment", 0)
      const body = renderSummary(input, channel, { shown, inline: [], hidden }, { op }, renderer)
      return [{ operationId: op, operation: { _tag: "CommitComment", head, body } }]
    }

    const inline = lines
      ? shown
          .filter((finding) => finding.anchor !== undefined)
          .slice(0, channel.max_comments ?? Number.POSITIVE_INFINITY)
      : []
    const operations: Array<{ readonly operationId: string; readonly operation: Operation }> = []

    // A comment that only the review could hold must not be lost where the route gives this channel no summary.
    if (parts.summary || inline.length < shown.length) {
      const op = operationId(input, channel.name, "Summary", 0)
      const scope = summaryScope(
        input.targetKey,
        channel.name,
        channel.review_update_strategy === "always_new" ? op : ""
      )
      const body = renderSummary(input, channel, { shown, inline, hidden }, { op, fp: summaryFp, scope }, renderer)
      operations.push({
        operationId: op,
        operation: { _tag: "Summary", head, body, problems: problemsOf(input, shown) }
      })
    }

    const event = shown.length > 0 ? (channel.review_event ?? "COMMENT") : "COMMENT"
    const postsClean = lines && shown.length === 0 && !workspace.review.skip_lgtm
    const reviews = Math.max(Math.ceil(inline.length / mostPerReview), postsClean ? 1 : 0)
    for (let part = 0; part < reviews; part++) {
      const some = inline.slice(part * mostPerReview, (part + 1) * mostPerReview)
      const op = operationId(input, channel.name, "Review", part)
      const comments = some.flatMap((finding) => {
        const marker = { op, fp: finding.fingerprint, scope: headScope(head) }
        return inlineOf(finding, renderProblem(input, channel, finding, marker, renderer))
      })
      const body = renderReviewBody(input, some.length, { op }, renderer)
      operations.push({ operationId: op, operation: { _tag: "Review", head, event, body, comments } })
    }
    return [...operations, ...settled]
  },

  send: Effect.fnUntraced(function* (reach, publication, previous) {
    const { change } = reach
    const client = yield* reach.client
    const { operation } = publication
    const standing = standingOf(client, change, publication)
    switch (operation._tag) {
      case "Review":
        return yield* sendReview(client, change, publication, previous, standing, operation, renderer)
      case "Summary": {
        const named = { ...operation, body: yield* mentioned(reach, operation) }
        const words = { labels: labelsFor(reach.workspace.review.output_language), limit: renderer.limit }
        const body = yield* withSince(standing, named, previous, words)
        return yield* sendSummary(client, change, { ...operation, body }, previous)
      }
      case "Threads":
        return yield* settleThreads(reach, standing, publication, previous, operation, renderer.limit)
      case "Thread":
        return yield* resolveThread(client, change, operation)
      case "CommitComment": {
        const comments = yield* commitComments(client, publication)
        return yield* comments.create(change.repo, operation.head, yield* mentioned(reach, operation))
      }
      default:
        return yield* foreign(publication)
    }
  }),

  find: Effect.fnUntraced(function* (reach, publication) {
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
        // Reading and resolving can be repeated.
        return undefined
      case "CommitComment": {
        const comments = yield* commitComments(client, publication)
        return yield* comments.find(change.repo, operation.head, needle({ op: publication.operationId }))
      }
      default:
        return yield* foreign(publication)
    }
  })
})

const commitComments = (client: ForgeClient, publication: Publication) =>
  client.commitComments === undefined ? Effect.fail(foreign(publication)) : Effect.succeed(client.commitComments)
