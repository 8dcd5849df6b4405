/**
 * Run tickets from schedulers to executors. A ticket may be lost or arrive twice: the entry it names stays `ready` in the
 * queue, claiming it is a compare-and-set, and the scheduler offers it again.
 */
import { Context, Effect, Layer, Queue } from "effect"

export interface Ticket {
  readonly entryId: string
  readonly workspace: string
}

export class Tickets extends Context.Service<
  Tickets,
  {
    readonly offer: (ticket: Ticket) => Effect.Effect<void>
    /** Waits for the next ticket. */
    readonly take: Effect.Effect<Ticket>
  }
>()("aicr/queue/Tickets") {
  /** Within one process. Bounded by what the schedulers release: at most the running limits of all workspaces. */
  static readonly layerMemory = Layer.effect(
    Tickets,
    Effect.gen(function* () {
      const queue = yield* Queue.unbounded<Ticket>()
      return Tickets.of({
        offer: (ticket) => Effect.asVoid(Queue.offer(queue, ticket)),
        take: Queue.take(queue)
      })
    })
  )
}
