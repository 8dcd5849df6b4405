/**
 * Settles the records of superseded deliveries in batches: pushing to a waiting pull request is common, and a synced write each would cost
 * more than accepting the delivery. A crash loses nothing: recovery admits the delivery again, and the queue reports the same.
 */
import { Clock, Context, Effect } from "effect"
import { replacedReason } from "../queue/Queue.ts"
import { Receipts } from "../store/Receipts.ts"

const delayMillis = 250

export class Superseded {
  readonly #context: Context.Context<Receipts>
  #eventIds: Array<string> = []
  #timer: NodeJS.Timeout | undefined

  constructor(context: Context.Context<Receipts>) {
    this.#context = context
  }

  add(eventIds: ReadonlyArray<string>): void {
    if (eventIds.length === 0) return
    this.#eventIds.push(...eventIds)
    this.#timer ??= setTimeout(() => Effect.runForkWith(this.#context)(this.flush), delayMillis)
  }

  /** Writes the collected notes. Also called on stop. */
  readonly flush: Effect.Effect<void> = Effect.suspend(() => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const eventIds = this.#eventIds
    this.#eventIds = []
    if (eventIds.length === 0) return Effect.void
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Context.get(this.#context, Receipts).settle(eventIds, { outcome: "superseded", reason: replacedReason }, now)
    ).pipe(
      Effect.catch((error) =>
        Effect.logWarning("superseded events not marked", { events: eventIds.length, error: error.message })
      )
    )
  })
}
