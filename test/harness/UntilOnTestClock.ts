/** Waiting in tests whose clock moves only when the test moves it. */
import { Clock, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"

export interface UntilOptions {
  /** Step of the clock between two checks. */
  readonly step?: Duration.Input
  readonly atMost?: Duration.Input
}

/** Lets time pass until the condition holds, a minute of it at most. Returns how many milliseconds passed. */
export const until = <E, R>(
  what: string,
  condition: Effect.Effect<boolean, E, R>,
  { step = "100 millis", atMost = "1 minute" }: UntilOptions = {}
): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    const begun = yield* Clock.currentTimeMillis
    while (!(yield* condition)) {
      const passed = (yield* Clock.currentTimeMillis) - begun
      if (passed > Duration.toMillis(atMost)) return yield* Effect.die(new Error(`not so: ${what}`))
      yield* TestClock.adjust(step)
      yield* Effect.callback<void>((done) => {
        setImmediate(() => done(Effect.void))
      })
    }
    return (yield* Clock.currentTimeMillis) - begun
  })
