/** Streams the progress of reviews to viewers, with heartbeats that keep the connection open. */
import { Clock, Effect, Stream } from "effect"
import { Progress } from "../../observability/Progress.ts"
import type { ProgressEvent } from "../../observability/Progress.ts"
import type { LiveEventRecord } from "../api/LiveRecords.ts"
import { toTime } from "./Views.ts"
import { withoutUndefined } from "./WithoutUndefined.ts"

/** Shorter than the time after which servers and proxies close a connection without a byte. */
const heartbeatInterval = "15 seconds"
/** A viewer connects again after this time, so that the end of its session takes effect. */
const maxDuration = "15 minutes"

/** Converts an event. Findings are in the records only. */
export const liveView = (event: ProgressEvent): LiveEventRecord => {
  const common = {
    at: toTime(event.at),
    workspace: event.workspace,
    target_key: event.targetKey,
    run_id: event.runId
  }
  switch (event._tag) {
    case "Started":
      return withoutUndefined({ type: "started" as const, ...common, head: event.head })
    case "CheckedOut":
      return withoutUndefined({ type: "checked_out" as const, ...common })
    case "Working":
      return withoutUndefined({
        type: "working" as const,
        ...common,
        pass: event.pass,
        agent: event.mode,
        tool_calls: event.toolCalls,
        problems: event.problems,
        input_tokens: event.inputTokens,
        output_tokens: event.outputTokens,
        cost_usd: event.costUsd
      })
    case "Analysed":
      return withoutUndefined({
        type: "analysed" as const,
        ...common,
        problems: event.problems,
        models: event.models
      })
    case "Published":
      return withoutUndefined({
        type: "published" as const,
        ...common,
        operation: event.operation,
        status: event.status,
        url: event.url
      })
    case "Finished":
      return withoutUndefined({ type: "finished" as const, ...common, status: event.status, reason: event.reason })
  }
}

const heartbeats = Stream.mapEffect(Stream.tick(heartbeatInterval), () =>
  Effect.map(Clock.currentTimeMillis, (now): LiveEventRecord => ({ type: "heartbeat", at: toTime(now) }))
)

/** Returns the events from now on. */
export const liveEvents = Effect.map(Progress, ({ events }) =>
  Stream.merge(heartbeats, Stream.map(events, liveView)).pipe(Stream.haltWhen(Effect.sleep(maxDuration)))
)
