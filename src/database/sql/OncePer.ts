/** Bounds a table between two runs of the retention, however many requests write to it. */
import { Effect } from "effect"

/** Returns an effect that runs `trim` once in `writes` runs. */
export const oncePer = <E, R>(writes: number, trim: Effect.Effect<unknown, E, R>): Effect.Effect<void, E, R> => {
  let count = 0
  return Effect.suspend(() => (++count % writes === 0 ? Effect.asVoid(trim) : Effect.void))
}
