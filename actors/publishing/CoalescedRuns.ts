/** Runs an effect one at a time. A request during a run schedules one more run and does not wait for it. */
import { Effect } from "effect"

export class CoalescedRuns<E, R> {
  readonly #effect: Effect.Effect<void, E, R>
  #isRunning = false
  #isRequested = false

  constructor(effect: Effect.Effect<void, E, R>) {
    this.#effect = effect
  }

  /** Succeeds when the effect has ended for every request, or immediately while it runs for an earlier request. */
  readonly request: Effect.Effect<void, E, R> = Effect.suspend(() => {
    this.#isRequested = true
    if (this.#isRunning) return Effect.void
    this.#isRunning = true
    return Effect.whileLoop({
      while: () => this.#isRequested,
      body: () => {
        this.#isRequested = false
        return this.#effect
      },
      step: () => {}
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          this.#isRunning = false
        })
      )
    )
  })
}
