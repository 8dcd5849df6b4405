/**
 * Timeouts of git commands, in addition to the limits of processor time (ProcessLimits.ts). A network timeout is transient,
 * because the host may be slow. A local command would take as long next time: it ends the review, and the error names the limit.
 */
import { Effect, Stream } from "effect"
import { CheckoutError } from "../Checkout.ts"

const localMillis = {
  init: 30_000,
  /** Timeout for commands about commits, refs and history. */
  history: 120_000,
  blame: 60_000,
  /** Timeout for the reply to one request for an object or for sizes. */
  objects: 120_000,
  /** Timeout between two chunks of a diff. */
  diff: 120_000,
  /** Timeout for the list of all files of a commit. */
  tree: 120_000,
  /** Timeout for the files of a commit that a model searches. */
  search: 30_000,
  worktree: 60_000,
  /** Timeout for writing the files of a work tree. */
  files: 600_000,
  repack: 600_000,
  import: 600_000
} as const

export type TimeLimit =
  | { readonly over: "network"; readonly millis: number }
  | { readonly over: "local"; readonly name: keyof typeof localMillis; readonly millis: number }

/** Fails after the timeout. `millis` is overridden in tests only. */
export const localTime = (name: keyof typeof localMillis, millis: number = localMillis[name]): TimeLimit => ({
  over: "local",
  name,
  millis
})
export const networkTime = (millis: number): TimeLimit => ({ over: "network", millis })

const timeError = (command: string, limit: TimeLimit): CheckoutError => {
  const why = { _tag: "ProgramSlow", command: `git ${command}`, seconds: limit.millis / 1000 } as const
  return limit.over === "network"
    ? new CheckoutError({ reason: "unreachable", why })
    : new CheckoutError({ reason: "limit", why: { ...why, limit: limit.name } })
}

export const withinTime =
  (command: string, limit: TimeLimit) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | CheckoutError, R> =>
    Effect.timeoutOrElse(effect, {
      duration: limit.millis,
      orElse: () => Effect.fail(timeError(command, limit))
    })

/** Applies the timeout to the wait for each element; time that the reader spends is not counted. */
export const eachWithinTime =
  (command: string, limit: TimeLimit) =>
  <A, E, R>(stream: Stream.Stream<A, E, R>): Stream.Stream<A, E | CheckoutError, R> =>
    Stream.timeoutOrElse(stream, {
      duration: limit.millis,
      orElse: () => Stream.fail(timeError(command, limit))
    })
