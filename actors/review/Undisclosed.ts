/** Facts about people and repositories that a host may not disclose to the account of the service. */
import { Effect } from "effect"
import type { ForgeError } from "../../src/forge/ForgeError.ts"

/** Replaces what the host does not disclose by `value`. Other failures remain: the host may respond later. */
export const unlessUndisclosed = <A, B>(
  fact: Effect.Effect<A, ForgeError>,
  value: B
): Effect.Effect<A | B, ForgeError> =>
  Effect.catchIf(
    fact,
    ({ reason }) =>
      reason === "forbidden" || reason === "unauthorized" || reason === "not_found" || reason === "invalid",
    () => Effect.succeed(value)
  )
