/** Drives a generator of pure work and lets other fibers and I/O run between its steps. */
import { Effect } from "effect"

export const runInTurns = <A>(work: Generator<void, A, void>): Effect.Effect<A> =>
  Effect.gen(function* () {
    for (;;) {
      const step = work.next()
      if (step.done === true) return step.value
      yield* Effect.yieldNow
    }
  })
