/** Time of a model call: passes while the call is executed, and while it waits where its owner deducts that. */
import { Clock, Effect } from "effect"
import { failure } from "./Failure.ts"
import type { Failure } from "./Failure.ts"

export class CallTime {
  #ownMillis: number
  readonly #whole: CallTime | undefined

  /** `millis`: `Infinity` for no limit. `whole`: the time of which this one is a part. */
  constructor(millis: number, whole?: CallTime) {
    this.#ownMillis = millis
    this.#whole = whole
  }

  get leftMillis(): number {
    return Math.min(this.#ownMillis, this.#whole?.leftMillis ?? Number.POSITIVE_INFINITY)
  }

  #take(millis: number): void {
    this.#ownMillis = Math.max(0, this.#ownMillis - millis)
    if (this.#whole !== undefined) this.#whole.#take(millis)
  }

  /** Deducts the time that has passed since a moment, in milliseconds since the epoch. */
  deduct(since: number): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (now) => this.#take(now - since))
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
        Effect.andThen(Effect.suspend(() => sleepMillis(this.leftMillis))),
        Effect.andThen(Effect.fail(failure("timeout", { _tag: "CallTimeUsedUp" })))
      )
      const spent = Effect.map(Clock.currentTimeMillis, (now) => this.#take(now - (since ?? now)))
      return Effect.raceFirst(effect, end).pipe(Effect.ensuring(spent))
    })
  }
}

const sleepMillis = (millis: number) => (Number.isFinite(millis) ? Effect.sleep(millis) : Effect.never)
