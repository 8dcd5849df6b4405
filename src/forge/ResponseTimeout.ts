/**
 * Timeout for a response of a host or a chat platform. The outcome of a write that timed out is unknown, so the publisher
 * searches for it.
 */
import { Context, Duration } from "effect"

export const ResponseTimeout = Context.Reference<Duration.Duration>("aicr/forge/ResponseTimeout", {
  defaultValue: () => Duration.seconds(30)
})
