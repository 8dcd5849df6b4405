/** Deletes many rows in chunks, so that other work runs between them. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"

const stepSize = 500

/** Repeats `remove`, which deletes at most `limit` rows and returns one row each, until none remains. Returns how many were deleted. */
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
