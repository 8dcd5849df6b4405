/**
 * Completes event records after the response, in batches: superseded deliveries, decisions of the queue, and repetitions. A synced write for
 * each would cost more than accepting the delivery. A crash loses the notes of a quarter of a second: recovery settles what was superseded,
 * because the queue reports the same again; a decision and a repetition are not counted.
 */
import { Clock, Context, Effect } from "effect"
import { logFailure } from "../observability/LimitedWarnings.ts"
import { Receipts } from "../store/Receipts.ts"
import type { EventNotes } from "../store/Receipts.ts"

const delayMillis = 250

type Decided = EventNotes["decided"][number]
type Duplicate = EventNotes["duplicates"][number]

export class DeferredNotes {
  readonly #context: Context.Context<Receipts>
  #superseded: Array<string> = []
  #decided: Array<Decided> = []
  #duplicates: Array<Duplicate> = []
  #timer: NodeJS.Timeout | undefined

  constructor(context: Context.Context<Receipts>) {
    this.#context = context
  }

  superseded(eventIds: ReadonlyArray<string>): void {
    if (eventIds.length === 0) return
    this.#superseded.push(...eventIds)
    this.#schedule()
  }

  decided(note: Decided): void {
    this.#decided.push(note)
    this.#schedule()
  }

  duplicate(note: Duplicate): void {
    this.#duplicates.push(note)
    this.#schedule()
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => Effect.runForkWith(this.#context)(this.flush), delayMillis)
  }

  /** Writes the collected notes. Also called on stop. */
  readonly flush: Effect.Effect<void> = Effect.suspend(() => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const eventIds = this.#superseded
    const notes: EventNotes = { decided: this.#decided, duplicates: this.#duplicates }
    this.#superseded = []
    this.#decided = []
    this.#duplicates = []
    const receipts = Context.get(this.#context, Receipts)
    const settle =
      eventIds.length === 0
        ? Effect.void
        : Effect.flatMap(Clock.currentTimeMillis, (now) =>
            receipts.settle(eventIds, { outcome: "superseded", reason: { _tag: "NewerDelivery" } }, now)
          )
    const note = notes.decided.length + notes.duplicates.length === 0 ? Effect.void : receipts.note(notes)
    return Effect.andThen(
      Effect.catch(settle, logFailure("superseded events not marked", { events: eventIds.length })),
      Effect.catch(
        note,
        logFailure("decisions and repetitions of deliveries not recorded", {
          decisions: notes.decided.length,
          duplicates: notes.duplicates.length
        })
      )
    )
  })
}
