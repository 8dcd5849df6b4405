/** Deletes many rows in steps, letting other work through between them. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

const stepSize = 500

/** Repeats `remove`, which deletes at most `limit` rows and answers one row each, until none is left. Answers how many. */
export const deleteInSteps = Effect.fnUntraced(function* (
  remove: (limit: number) => Effect.Effect<ReadonlyArray<unknown>, SqlError.SqlError>
) {
  let removed = 0
  while (true) {
    const step = (yield* remove(stepSize)).length
    removed += step
    if (step < stepSize) return removed
    yield* Effect.yieldNow
  }
})
