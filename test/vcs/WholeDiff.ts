/** The diff of a comparison, with all of its paths selected. */
import { Effect, Stream } from "effect"
import type { CheckoutError, Comparison } from "../../src/vcs/Checkout.ts"

export const wholeDiff = ({ changes, diff }: Comparison): Stream.Stream<Uint8Array, CheckoutError> =>
  Stream.unwrap(Effect.map(changes(1_000_000), (paths) => diff(paths, false)))
