/**
 * Sends run tickets from schedulers to executors, those of replies apart from those of reviews. A ticket may be lost or arrive twice: the entry it names stays `ready` in the queue,
 * claiming it is a compare-and-set, and the scheduler offers it again. A ticket whose taker dies before it has claimed the entry goes to
 * another one if possible.
 */
import { Context, Effect, Layer, Queue } from "effect"

/** Kinds of work, each of which has slots of its own at the executors. */
export const workKinds = ["review", "reply"] as const
export type WorkKind = (typeof workKinds)[number]

export interface Ticket {
  readonly entryId: string
  readonly workspace: string
  readonly kind: WorkKind
}

export interface TakenTicket extends Ticket {
  /** The entry is claimed, or needs no worker any more. */
  readonly claimed: Effect.Effect<void>
  /** Requeues the ticket for another executor. */
  readonly again: Effect.Effect<void>
}

export class Tickets extends Context.Service<
  Tickets,
  {
    readonly offer: (ticket: Ticket) => Effect.Effect<void>
    /** Waits for the next ticket of a kind, in the order of offers. */
    readonly take: (kind: WorkKind) => Effect.Effect<TakenTicket>
  }
>()("aicr/queue/Tickets") {
  /**
   * Sends tickets within one process. An entry has at most one ticket however often it is offered, so their number is limited by the
   * schedulers: the running limits of all workspaces.
   */
  static readonly layerMemory = Layer.effect(
    Tickets,
    Effect.gen(function* () {
      const queues = { review: yield* Queue.unbounded<Ticket>(), reply: yield* Queue.unbounded<Ticket>() }
      const offered = new Set<string>()
      const offer = (ticket: Ticket) =>
        Effect.suspend(() => {
          if (offered.has(ticket.entryId)) return Effect.void
          offered.add(ticket.entryId)
          return Effect.asVoid(Queue.offer(queues[ticket.kind], ticket))
        })
      return Tickets.of({
        offer,
        take: (kind) =>
          Effect.map(Queue.take(queues[kind]), (ticket) => {
            offered.delete(ticket.entryId)
            return { ...ticket, claimed: Effect.void, again: offer(ticket) }
          })
      })
    })
  )
}
