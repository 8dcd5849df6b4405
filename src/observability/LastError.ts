/** Keeps the last line that this process logged as an error, and counts such lines. */
import { Context, Effect, Layer, Logger, LogLevel } from "effect"
import type { LoggedError } from "../domain/LoggedError.ts"
import { findRun } from "./logs/FindRun.ts"
import { loggedErrors } from "./Metrics.ts"
import { cleanText } from "./Redaction.ts"

/** Characters of a text that are kept. Texts of this service are shorter. */
const maxMessage = 200

const textOf = (message: unknown): string => {
  const [first] = Array.isArray(message) ? message : [message]
  return typeof first === "string" ? first : "error without a text"
}

export class LastError extends Context.Service<LastError, { readonly get: () => LoggedError | undefined }>()(
  "aicr/observability/LastError"
) {
  /** Adds a logger to those of the process. */
  static readonly layer: Layer.Layer<LastError> = Layer.unwrap(
    Effect.gen(function* () {
      let last: LoggedError | undefined
      const context = yield* Effect.context()
      const logger = Logger.make<unknown, void>((event) => {
        if (!LogLevel.isGreaterThanOrEqualTo(event.logLevel, "Error")) return
        const run = findRun(event)
        loggedErrors.updateUnsafe(1, context)
        last = {
          at: event.date.toISOString(),
          message: cleanText(textOf(event.message)).slice(0, maxMessage),
          ...(run === undefined ? {} : { run_id: run })
        }
      })
      return Layer.merge(
        Logger.layer([logger], { mergeWithExisting: true }),
        Layer.succeed(LastError, LastError.of({ get: () => last }))
      )
    })
  )
}
