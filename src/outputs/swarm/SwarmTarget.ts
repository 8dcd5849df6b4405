/** Finds the review of a changelist in Swarm, and the service's own comments on it. */
import { Clock, Effect } from "effect"
import { parseIdTime } from "../../domain/Ids.ts"
import type { Reason } from "../../domain/Reason.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import type { CommentedReview, SwarmClient, SwarmComment } from "../../forge/swarm/Client.ts"
import type { HostTraffic } from "../../forge/HostTraffic.ts"
import type { ChannelContext, ChannelMissing } from "../channels/Channel.ts"
import { toChangelist, chooseReview } from "./ChooseReview.ts"
import type { SwarmClients } from "./OpenSwarm.ts"
import { listOwn, swarmScope } from "./OwnComments.ts"
import type { OwnComment } from "./OwnComments.ts"

const defaultWaitSeconds = 30
/** Pause between two searches for a review that may still appear. */
const searchPauseMillis = 5000

/**
 * Returns the review that contains the changelist, or the reason why there is none. Swarm creates reviews in the background, so a missing
 * one is searched for again until the publication, of the time `since`, is old enough.
 */
const findReview = Effect.fnUntraced(function* (
  client: SwarmClient,
  { change, channel }: ChannelContext,
  since: number
): Effect.fn.Return<CommentedReview | Reason, ForgeError> {
  const { source } = change
  // It has at least the comment that gets a reply.
  if (source?._tag === "SwarmQuestion") return { id: source.review, comments: 1 }
  const changelist = toChangelist(change)
  const review = chooseReview(yield* client.reviewsOf(changelist), changelist)
  if (review !== undefined) return review
  const why = { _tag: "NoSwarmReview", changelist, user: client.user, channel: channel.name } as const
  const age = (yield* Clock.currentTimeMillis) - since
  const wait = (channel.review_wait_seconds ?? defaultWaitSeconds) * 1000
  if (age >= wait) return why
  return yield* new ForgeError({
    reason: "unavailable",
    retryAfterMillis: Math.min(searchPauseMillis, wait - age),
    operation: "GET /reviews",
    why
  })
})

/** A review of Swarm with the service's own comments on it. */
export interface SwarmTarget {
  readonly context: ChannelContext
  readonly client: SwarmClient
  readonly review: CommentedReview
  readonly own: ReadonlyArray<OwnComment>
  /** All comments on the review, also those of others. */
  readonly comments: ReadonlyArray<SwarmComment>
}

/** Returns the review and the comments, or why nothing is published. `id`: that of the publication; undefined: the review existed before. */
export const openTarget = Effect.fnUntraced(function* (
  clients: SwarmClients,
  context: ChannelContext,
  id: string | undefined
): Effect.fn.Return<SwarmTarget | Reason, ForgeError | ChannelMissing, HostTraffic> {
  const client = yield* clients.open(context)
  const review = yield* findReview(client, context, id === undefined ? 0 : (parseIdTime(id) ?? 0))
  if ("_tag" in review) return review
  const comments = yield* client.comments(review)
  const own = listOwn(comments, client.user, swarmScope(context.change, context.channel.name))
  return { context, client, review, own, comments }
})
