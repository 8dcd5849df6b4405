/** Limits warnings that repeat while a server or a disk is unavailable: each at most once a minute, with the number of those since the last. */
import { Clock, Context, Effect } from "effect"
import { RepeatedWarnings } from "../domain/RepeatedWarnings.ts"

/** Limits of this process by name of the warning. */
export const WarningLimits = Context.Reference<Map<string, RepeatedWarnings>>("aicr/observability/WarningLimits", {
  defaultValue: () => new Map()
})

/**
 * Runs `warn` if the warning `name` is due. Names are constants, or one for each of a few known servers. `key` names what it is about where
 * there are many of them: each once a minute, and at most 20 of them.
 */
export const limitWarning = Effect.fnUntraced(function* (
  name: string,
  warn: (suppressed: number) => Effect.Effect<void>,
  key: string = name
) {
  const limits = yield* WarningLimits
  const limit = limits.get(name) ?? new RepeatedWarnings()
  limits.set(name, limit)
  const suppressed = limit.admit(key, yield* Clock.currentTimeMillis)
  if (suppressed !== undefined) yield* warn(suppressed)
})

/**
 * Returns a handler that logs a failure after which its caller continues, such as one of a step that is repeated: each message at most once a
 * minute. `about` names what failed where there are many of them: each once a minute.
 */
export const logFailure =
  (
    message: string,
    fields: Readonly<Record<string, unknown>> = {},
    { about, level = "Warn" }: { readonly about?: string; readonly level?: "Error" | "Warn" } = {}
  ) =>
  (error: { readonly message: string }): Effect.Effect<void> => {
    const log = level === "Error" ? Effect.logError : Effect.logWarning
    return limitWarning(message, (suppressed) => log(message, { ...fields, error: error.message, suppressed }), about)
  }

/** Returns a handler of failures that gives only the first one to `handle`. */
export const onFirst = <E>(handle: (error: E) => Effect.Effect<void>): ((error: E) => Effect.Effect<void>) => {
  let isHandled = false
  return (error) =>
    Effect.suspend(() => {
      if (isHandled) return Effect.void
      isHandled = true
      return handle(error)
    })
}
