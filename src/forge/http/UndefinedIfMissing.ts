/** Converts `not_found` to undefined; other failures are passed on. */
import { Effect } from "effect"
import type { ForgeError } from "../ForgeError.ts"

export const undefinedIfMissing = <A, R>(
  effect: Effect.Effect<A, ForgeError, R>
): Effect.Effect<A | undefined, ForgeError, R> =>
  Effect.catchIf(
    effect,
    (error) => error.reason === "not_found",
    () => Effect.undefined
  )
