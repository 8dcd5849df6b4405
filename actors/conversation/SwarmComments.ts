/**
 * Finds comments of people on reviews of Swarm that may get a reply, one in the cluster: Swarm sends no events. Once the service has commented
 * on a review, one request per channel and minute returns the comments after the last one that was read (`CatchUps`), on all reviews.
 *
 * A comment is queued if it is in a thread, or addresses the service, on a review that the service commented on. Whether it gets a reply is
 * decided from its thread, as at a host (ReplyDecision.ts). A comment is queued before the mark is stored, with a key of its own, so that a
 * search may be repeated at any step.
 */
import { Clock, Duration, Effect, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { Workspace } from "../../src/config/Snapshot.ts"
import { findAddressee } from "../../src/domain/AddressedComment.ts"
import { logFailure } from "../../src/observability/LimitedWarnings.ts"
import { SwarmConversations } from "../../src/outputs/SwarmConversations.ts"
import type { ReviewComment, SwarmServerChannel } from "../../src/outputs/SwarmConversations.ts"
import { replyInSwarm } from "../../src/queue/operator/ReplyInSwarm.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import { Outbox } from "../../src/store/Outbox.ts"
import { Runs } from "../../src/store/Runs.ts"
import { countStart } from "../ActorStarts.ts"
import type { ShardGroup } from "../Placement.ts"
import { WorkspaceScheduler } from "../scheduling/WorkspaceScheduler.ts"

const interval = Duration.minutes(1)
/** Comments that are older get no reply, for example after the service was down. */
const maxAgeMillis = Duration.toMillis("24 hours")
/** Age of reviews to which comments still get a reply. */
const maxReviewAgeMillis = Duration.toMillis("90 days")

const converses = ({ review }: Workspace): boolean => review.comment_commands && review.conversation.enabled

/** Marks of channels are stored among those of triggers, whose names have no space. */
const markName = ({ channel }: SwarmServerChannel): string => `channel ${channel.name}`

/** Returns the id of the comment after which comments are read; undefined while the service has not commented. */
const findMark = Effect.fnUntraced(function* (channel: SwarmServerChannel, scope: string, now: number) {
  const marks = yield* (yield* CatchUps).marks(markName(channel))
  const known = marks.find((mark) => mark.scope === scope)
  if (known !== undefined) return known.mark
  const sent = yield* (yield* Outbox).sentReviews(channel.channel.name, { since: now - maxAgeMillis })
  const ids = sent.map(({ hostId }) => Number(hostId)).filter((id) => Number.isSafeInteger(id))
  return ids.length === 0 ? undefined : Math.min(...ids)
})

const queueReply = Effect.fnUntraced(function* (channel: SwarmServerChannel, comment: ReviewComment, now: number) {
  const { name } = channel.channel
  const { author, id, review, url } = comment
  const [row] = yield* (yield* Outbox).sentReviews(name, { url, since: now - maxReviewAgeMillis })
  const run = row === undefined ? undefined : yield* (yield* Runs).get(row.runId)
  if (run === undefined || !channel.workspaces.some((one) => one.id === run.workspace && converses(one))) return
  const { target } = run.change
  const source = { _tag: "SwarmQuestion", channel: name, review, comment: id, run: run.id, target } as const
  const requested = yield* replyInSwarm(run, author, source)
  if (requested._tag === "Queued")
    yield* (yield* WorkspaceScheduler.client)(run.workspace).Wake(undefined, { discard: true })
})

/** Queues the comments on the reviews of a channel that are new. */
export const searchChannel = Effect.fnUntraced(function* (channel: SwarmServerChannel) {
  const now = yield* Clock.currentTimeMillis
  const scope = channel.channel.base_url ?? ""
  const after = yield* findMark(channel, scope, now)
  if (after === undefined) return
  const { account, comments, last } = yield* (yield* SwarmConversations).commentsAfter(channel, after)
  for (const comment of comments)
    if (
      now - comment.createdAt <= maxAgeMillis &&
      (comment.isReply || findAddressee(comment.body, account) === "service")
    )
      yield* queueReply(channel, comment, now)
  yield* (yield* CatchUps).mark({ trigger: markName(channel), scope, mark: Math.max(after, last) })
})

const searchAll = Effect.gen(function* () {
  const channels = (yield* SwarmConversations).channels((yield* ConfigStore).current())
  for (const channel of channels)
    if (channel.workspaces.some(converses)) {
      const { name } = channel.channel
      const report = logFailure("comments of Swarm not read, retry scheduled", { channel: name }, { about: name })
      yield* Effect.catch(searchChannel(channel), report)
    }
})

const shardGroup: ShardGroup = "publisher"

export const layer = Singleton.make(
  "SwarmComments",
  Effect.andThen(countStart("SwarmComments"), Effect.repeat(searchAll, Schedule.spaced(interval))),
  { shardGroup }
)
