/**
 * Comments on a review of Swarm (P4 Code Review): a summary, and one comment at the line of each problem. Every operation reads the comments
 * of the review first, so that a comment whose response was lost is found by its marker, and never written twice.
 */
import { Effect } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import type { Publication } from "../../domain/Publication.ts"
import type { ChannelKind, Sent } from "../channels/Channel.ts"
import { wrongChannelKind } from "../channels/WrongChannelKind.ts"
import { SwarmClients } from "./OpenSwarm.ts"
import { planSwarm, servesSwarm } from "./PlanSwarm.ts"
import { sendReply } from "./ReplySwarm.ts"
import {
  fillFor,
  listMissing,
  markProblems,
  resolveComment,
  sendProblems,
  sendSummary,
  settleProblems
} from "./SendSwarm.ts"
import { openTarget } from "./SwarmTarget.ts"

const skip = ({ operationId }: Publication, reason: Reason): Sent => ({
  hostId: operationId,
  url: undefined,
  skipped: reason
})

const sendWith = (clients: SwarmClients): ChannelKind["send"] =>
  Effect.fnUntraced(function* (context, publication, previous) {
    const { operation } = publication
    const target = yield* openTarget(clients, context, publication.id)
    if ("_tag" in target) return skip(publication, target)
    switch (operation._tag) {
      case "Summary":
        return yield* sendSummary(target, publication, operation, previous)
      case "Review":
        return yield* sendProblems(target, publication, operation)
      case "Threads":
        return settleProblems(target, publication, operation)
      case "Thread":
        return yield* resolveComment(target, operation)
      case "Reply":
        return yield* sendReply(target, publication, operation)
      default:
        return yield* wrongChannelKind(publication)
    }
  })

const findWith = (clients: SwarmClients): ChannelKind["find"] =>
  Effect.fnUntraced(function* (context, publication, previous) {
    const { operation, operationId } = publication
    const target = yield* openTarget(clients, context, publication.id)
    if ("_tag" in target) return skip(publication, target)
    const own = target.own.find(({ markers }) => markers.some(({ op }) => op === operationId))
    const written = { hostId: own?.id ?? operationId, url: target.client.address(target.review.id) }
    switch (operation._tag) {
      case "Summary":
        return own === undefined
          ? undefined
          : { ...written, listed: (yield* fillFor(target, operation, previous, publication.runId)).listed }
      case "Review":
        return listMissing(target, operation).length === 0 ? written : undefined
      case "Reply":
        return own === undefined ? undefined : written
      case "Threads":
      case "Thread":
        // Both are idempotent.
        return undefined
      default:
        return yield* wrongChannelKind(publication)
    }
  })

const markWith =
  (clients: SwarmClients): NonNullable<ChannelKind["mark"]> =>
  (context, finding) =>
    Effect.flatMap(openTarget(clients, context, undefined), (target) =>
      "_tag" in target ? Effect.succeed(0) : markProblems(target, finding)
    )

export const swarmChannel = (): ChannelKind => {
  const clients = new SwarmClients()
  return {
    serves: servesSwarm,
    plan: planSwarm,
    send: sendWith(clients),
    find: findWith(clients),
    mark: markWith(clients)
  }
}
