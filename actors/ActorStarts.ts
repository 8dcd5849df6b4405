/** Counts starts of actors on this node. An actor starts when it is first used, after idling, after a move from another node, and after a failure. */
import { Effect, Metric } from "effect"
import * as Metrics from "../src/observability/Metrics.ts"

/** Counts one start of the actor with this name. */
export const countStart = (actor: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(Metrics.actorStarts, { actor }), 1)
