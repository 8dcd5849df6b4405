/**
 * Stores what this node logs about runs, and their spans: once per second, and when it stops. A process that dies loses the lines of a second
 * and the spans of ten; while the records are unavailable, they are lost. Values of credentials are removed in addition to what the log itself
 * removes.
 */
import { Clock, Effect, Layer, Logger, Schema, Tracer } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import { listCredentials } from "../config/ListCredentials.ts"
import { logFailure } from "../observability/LimitedWarnings.ts"
import { redactValues } from "../observability/Redaction.ts"
import { RunLogBuffer } from "../observability/logs/RunLogBuffer.ts"
import type { RunBatch } from "../observability/logs/RunLogBuffer.ts"
import { keepSpans } from "../observability/traces/KeepSpans.ts"
import { toStorable } from "../domain/Text.ts"
import { RunLogLine } from "../domain/RunLogLine.ts"
import { RunSpan } from "../domain/RunSpan.ts"
import { RunLogs } from "../store/RunLogs.ts"

const decodeBatch = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ lines: Schema.Array(RunLogLine), spans: Schema.Array(RunSpan) }))
)

const toStored = ({ dropped, lines, spans }: RunBatch, credentials: ReadonlyArray<string>, now: number) => {
  const all = [
    ...lines.map(({ level, ...line }) => ({ ...line, level: level.toLowerCase() })),
    ...(dropped === 0
      ? []
      : [{ at: now, level: "warn", message: "lines of this log dropped", fields: { lines: dropped } }])
  ]
  return decodeBatch(toStorable(redactValues(JSON.stringify({ lines: all, spans }), credentials)))
}

/** Stores what is due at a time: all of it at the end of time. */
const flush = Effect.fnUntraced(function* (buffer: RunLogBuffer, until: number | undefined) {
  const now = yield* Clock.currentTimeMillis
  const batches = buffer.take(until ?? now)
  if (batches.length === 0) return
  const logs = yield* RunLogs
  const credentials = listCredentials((yield* ConfigStore).current())
  yield* Effect.forEach(batches, (batch) => logs.append(batch.runId, toStored(batch, credentials, now), now), {
    discard: true
  }).pipe(Effect.catch(logFailure("log of runs not stored")))
})

/** Adds a logger to those of the process, and keeps spans that its tracer exports. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const buffer = new RunLogBuffer()
    yield* Effect.addFinalizer(() => flush(buffer, Number.POSITIVE_INFINITY))
    yield* Effect.andThen(buffer.some, Effect.sleep("1 second")).pipe(
      Effect.andThen(flush(buffer, undefined)),
      Effect.forever,
      Effect.forkScoped
    )
    const tracer = keepSpans(yield* Effect.tracer, {
      add: (runId, span) => buffer.addSpan(runId, span),
      end: (runId) => buffer.endSpans(runId)
    })
    return Layer.merge(Logger.layer([buffer.logger], { mergeWithExisting: true }), Layer.succeed(Tracer.Tracer, tracer))
  })
)
