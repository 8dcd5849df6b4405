/** Counts the connections of all ports, and logs when their limits are reached. */
import { Effect, Metric } from "effect"
import type { Context } from "effect"
import { connectionsAtLimit, openConnections } from "../observability/Metrics.ts"
import type { ConnectionObserver } from "./Connections.ts"

const limitWarningMillis = 60_000

/** Counts connections of all listeners. Limits are logged at most once a minute. */
export const connectionObserver = (context: Context.Context<never>): ConnectionObserver => {
  const counts = {
    closed_for_another: Metric.withAttributes(connectionsAtLimit, { outcome: "closed_for_another" }),
    refused: Metric.withAttributes(connectionsAtLimit, { outcome: "refused" })
  }
  let open = 0
  let loggedAt = Number.NEGATIVE_INFINITY
  return {
    onCount: (change) => {
      open += change
      openConnections.updateUnsafe(open, context)
    },
    onLimit: (client, outcome) => {
      counts[outcome].updateUnsafe(1, context)
      if (performance.now() - loggedAt < limitWarningMillis) return
      loggedAt = performance.now()
      Effect.runForkWith(context)(
        Effect.logWarning("connection limit reached").pipe(Effect.annotateLogs({ client, outcome }))
      )
    }
  }
}
