/** Steps of a sweep, whose failures the next sweep retries. */
import { Cause, Effect, Exit } from "effect"
import { limitWarning } from "../../src/observability/LimitedWarnings.ts"

/** Rows read per page. */
export const page = 500

/** Logs the failure of a step and continues. The next sweep retries it. Returns whether it succeeded. */
export const step = <E, R>(name: string, effect: Effect.Effect<void, E, R>): Effect.Effect<boolean, never, R> =>
  Effect.catchCause(Effect.as(effect, true), (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.interrupt
      : limitWarning(`sweep step ${name}`, (suppressed) =>
          Effect.logError("sweep step failed, the next sweep retries it", { step: name, suppressed }, cause)
        ).pipe(Effect.as(false))
  )

/** Failures of single items after which a step ends, because a common cause is likely. */
const maxFailures = 20

/** Processes each item. An item that fails does not stop those after it. */
export const each = Effect.fnUntraced(function* <A, E, R>(
  items: Iterable<A>,
  fields: (item: A) => Readonly<Record<string, string>>,
  use: (item: A) => Effect.Effect<void, E, R>
) {
  let failures = 0
  for (const item of items) {
    const exit = yield* Effect.exit(use(item))
    if (Exit.isSuccess(exit)) continue
    if (Cause.hasInterruptsOnly(exit.cause) || ++failures === maxFailures) return yield* Effect.failCause(exit.cause)
    const named = fields(item)
    yield* limitWarning(
      "item of a sweep",
      (suppressed) =>
        Effect.logWarning("item of a sweep failed, the next sweep retries it", { ...named, suppressed }, exit.cause),
      JSON.stringify(named)
    )
  }
})
