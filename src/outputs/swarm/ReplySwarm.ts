/** Writes a reply into the thread of a comment on a review of Swarm, once. */
import { Effect } from "effect"
import type { Operation, Publication } from "../../domain/Publication.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { SwarmPosition } from "../../forge/swarm/Client.ts"
import type { Writing } from "../../forge/WriteOwner.ts"
import { unwritten } from "../channels/Channel.ts"
import type { Sent } from "../channels/Channel.ts"
import type { OwnComment } from "./OwnComments.ts"
import { createOnce } from "./SendSwarm.ts"
import { toSwarmBody } from "./SwarmMarkers.ts"
import type { SwarmTarget } from "./SwarmTarget.ts"
import { toThreads } from "./SwarmThreads.ts"

export const sendReply = Effect.fnUntraced(function* (
  target: SwarmTarget,
  { operationId }: Publication,
  { body }: Extract<Operation, { readonly _tag: "Reply" }>
): Effect.fn.Return<Sent, ForgeError, Writing> {
  const { comments, context, own } = target
  const { source } = context.change
  const isWritten = (now: ReadonlyArray<OwnComment>) =>
    now.some(({ markers }) => markers.some(({ op }) => op === operationId))
  if (isWritten(own)) return unwritten(operationId, { _tag: "CommentsExist" })
  const root = source?._tag === "SwarmQuestion" ? toThreads(comments).findRoot(source.comment) : undefined
  if (root === undefined) return unwritten(operationId, { _tag: "GoneAtHost" })
  const create = (where: SwarmPosition | undefined) =>
    createOnce(
      target,
      {
        body: toSwarmBody(body),
        isTask: false,
        context: where,
        notifications: context.channel.notifications ?? "batched"
      },
      isWritten
    )
  return yield* create({ ...root.place, comment: Number(root.id) }).pipe(
    // A release without threads, or a place that the review does not have any more.
    Effect.catchIf(
      ({ reason }) => reason === "invalid",
      () => create(undefined)
    )
  )
})
