/** Runs an effect one at a time: a request that comes while it runs makes it run again, and does not wait for that. */
import { Effect } from "effect"

export class CoalescedRuns<E, R> {
  readonly #effect: Effect.Effect<void, E, R>
  #isRunning = false
  #isRequested = false

  constructor(effect: Effect.Effect<void, E, R>) {
    this.#effect = effect
  }

  /** Succeeds when the effect has ended for every request, and at once while it runs for an earlier one. */
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
