/** Streams the progress of reviews to viewers, with heartbeats that keep the connection open. */
import { Clock, Effect, Stream } from "effect"
import { Progress } from "../../observability/Progress.ts"
import type { ProgressEvent } from "../../observability/Progress.ts"
import { progress } from "../api/LiveRecords.ts"
import type { LiveEventRecord } from "../api/LiveRecords.ts"
import { toTime } from "./Views.ts"

/** Shorter than the time after which servers and proxies close a connection without a byte. */
const heartbeatInterval = "15 seconds"
/** A viewer connects again after this time, so that the end of its session takes effect. */
const maxDuration = "15 minutes"

const types = {
  Started: "started",
  CheckedOut: "checked_out",
  Working: "working",
  Analysed: "analysed",
  Published: "published",
  Finished: "finished"
} as const satisfies Record<ProgressEvent["_tag"], LiveEventRecord["type"]>

export const liveView = ({ _tag, at, ...fields }: ProgressEvent): LiveEventRecord => ({
  type: types[_tag],
  at: toTime(at),
  ...progress.view(fields)
})

const heartbeats = Stream.mapEffect(Stream.tick(heartbeatInterval), () =>
  Effect.map(Clock.currentTimeMillis, (now): LiveEventRecord => ({ type: "heartbeat", at: toTime(now) }))
)

/** Returns the events from now on. */
export const liveEvents = Effect.map(Progress, ({ events }) =>
  Stream.merge(heartbeats, Stream.map(events, liveView)).pipe(Stream.haltWhen(Effect.sleep(maxDuration)))
)
