/** Metrics of the service. Names start `aicr_`; labels stay low in cardinality, so no repository or user is ever one. */
import { Metric } from "effect"

/** Deliveries by provider, decision and reason (decisions section 11). */
export const webhookDecisions = Metric.counter("aicr_webhook_decisions_total", {
  description: "Webhook deliveries by provider, decision and reason",
  incremental: true
})

/** From the first byte of the request to the answer. */
export const webhookDuration = Metric.histogram("aicr_webhook_duration_seconds", {
  description: "Time from the arrival of a webhook to its answer",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10]
})

export const runs = Metric.counter("aicr_runs_total", {
  description: "Ended attempts of reviews by outcome",
  incremental: true
})
