/**
 * Sends tickets between nodes as work on the bus: an entry has at most one, a free executor gets it, and the next one if the entry is not
 * claimed within seconds. While NATS is disconnected nothing is offered; the scheduler offers again.
 */
import { Effect, Layer } from "effect"
import { makeWorkQueue } from "../../../nats/NatsWorkQueue.ts"
import { Tickets } from "./Tickets.ts"

export const layer = Layer.effect(
  Tickets,
  Effect.gen(function* () {
    const work = {
      review: yield* makeWorkQueue({ name: "tickets", doneWithin: "5 seconds" }),
      reply: yield* makeWorkQueue({ name: "reply-tickets", doneWithin: "5 seconds" })
    }
    return Tickets.of({
      offer: ({ entryId, kind, workspace }) =>
        Effect.catch(Effect.asVoid(work[kind].offer(entryId, workspace)), (error) =>
          Effect.logDebug("ticket not offered", { entry_id: entryId, error: error.message })
        ),
      take: (kind) =>
        Effect.map(work[kind].take, ({ key, payload, done, again }) => ({
          entryId: key,
          workspace: payload,
          kind,
          // If this is lost, another executor gets the ticket and finds the entry claimed.
          claimed: Effect.catch(done, (error) =>
            Effect.logDebug("ticket not ended", { entry_id: key, error: error.message })
          ),
          again
        }))
    })
  })
)
