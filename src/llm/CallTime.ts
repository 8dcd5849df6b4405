/** Time of a model call, which passes only while the call is executed and not while it waits for permits. */
import { Clock, Effect } from "effect"
import { failure } from "./Failure.ts"
import type { Failure } from "./Failure.ts"

export class CallTime {
  #leftMillis: number

  /** `Infinity` for no limit. */
  constructor(millis: number) {
    this.#leftMillis = millis
  }

  get leftMillis(): number {
    return this.#leftMillis
  }

  /** Deducts the time that has passed since a moment, in milliseconds since the epoch. */
  deduct(since: number): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (now) => {
      this.#leftMillis = Math.max(0, this.#leftMillis - (now - since))
    })
  }

  /** Runs an effect within the remaining time; fails with `timeout` after that. The time starts with the end of `begun`. */
  spend<A, E, R>(effect: Effect.Effect<A, E, R>, begun: Effect.Effect<void> = Effect.void) {
    return Effect.suspend((): Effect.Effect<A, E | Failure, R> => {
      let since: number | undefined
      const note = Effect.map(Clock.currentTimeMillis, (now) => {
        since = now
      })
      const end = begun.pipe(
        Effect.andThen(note),
        Effect.andThen(Effect.suspend(() => sleepMillis(this.#leftMillis))),
        Effect.andThen(Effect.fail(failure("timeout", { _tag: "CallTimeUsedUp" })))
      )
      const spent = Effect.map(Clock.currentTimeMillis, (now) => {
        this.#leftMillis = Math.max(0, this.#leftMillis - (now - (since ?? now)))
      })
      return Effect.raceFirst(effect, end).pipe(Effect.ensuring(spent))
    })
  }
}

const sleepMillis = (millis: number) => (Number.isFinite(millis) ? Effect.sleep(millis) : Effect.never)
