/**
 * Notes on the records of deliveries that a newer head or another base replaced, many in one write: pushing to a pull request that
 * waits is common, and a synced write each would cost more than taking the delivery in. Nothing is lost if the process dies first:
 * recovery admits the delivery again, and the queue reports the same.
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

  /** Writes what has come together. Also at stop. */
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
