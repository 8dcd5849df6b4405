/**
 * How long git commands may take by the clock, next to what they may use of the processor (ProcessLimits.ts). Over the network it is the host
 * that may be slow, and faster later. A local command takes as long the next time: it ends the review, and the error names the limit.
 */
import { Effect, Stream } from "effect"
import { CheckoutError } from "../Checkout.ts"

const localMillis = {
  init: 30_000,
  /** Commits, refs and what came before what. */
  history: 120_000,
  blame: 60_000,
  /** Until one request for an object, or for sizes of objects, has its reply. */
  objects: 120_000,
  /** Between two pieces of a diff. */
  diff: 120_000,
  /** The list of all files of a commit. */
  tree: 120_000,
  worktree: 60_000,
  /** Until the files of a work tree are written. */
  files: 600_000,
  repack: 600_000,
  import: 600_000
} as const

export type TimeLimit =
  | { readonly over: "network"; readonly millis: number }
  | { readonly over: "local"; readonly name: keyof typeof localMillis; readonly millis: number }

/** `millis` differs in tests only. */
export const localTime = (name: keyof typeof localMillis, millis: number = localMillis[name]): TimeLimit => ({
  over: "local",
  name,
  millis
})
export const networkTime = (millis: number): TimeLimit => ({ over: "network", millis })

const timeError = (command: string, limit: TimeLimit): CheckoutError => {
  const what = `git ${command} took over ${limit.millis / 1000} s`
  return limit.over === "network"
    ? new CheckoutError({ reason: "unreachable", message: what })
    : new CheckoutError({
        reason: "limit",
        message: `${what} (time limit "${limit.name}" in src/vcs/git/TimeLimit.ts); the repository or the disk is too slow for a review`
      })
}

export const withinTime =
  (command: string, limit: TimeLimit) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | CheckoutError, R> =>
    Effect.timeoutOrElse(effect, {
      duration: limit.millis,
      orElse: () => Effect.fail(timeError(command, limit))
    })

/** The limit holds for the wait for each element; what its reader does in between does not count. */
export const eachWithinTime =
  (command: string, limit: TimeLimit) =>
  <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E | CheckoutError, R> =>
    Stream.timeoutOrElse(stream, {
      duration: limit.millis,
      orElse: () => Stream.fail(timeError(command, limit))
    })
