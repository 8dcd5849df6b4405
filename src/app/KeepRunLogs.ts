/**
 * Stores what this node logs about runs: once per second, and when it stops. A process that dies loses the lines of a second; while the
 * records are unavailable, lines are lost. Values of credentials are removed in addition to what the log itself removes.
 */
import { Clock, Effect, Layer, Logger, Schedule, Schema } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import { listCredentials } from "../config/ListCredentials.ts"
import { limitWarning } from "../observability/LimitedWarnings.ts"
import { redactValues } from "../observability/Redaction.ts"
import { RunLogBuffer } from "../observability/logs/RunLogBuffer.ts"
import type { RunBatch } from "../observability/logs/RunLogBuffer.ts"
import { toStorable } from "../domain/Text.ts"
import { RunLogLine } from "../domain/RunLogLine.ts"
import { RunLogs } from "../store/RunLogs.ts"

const decodeLines = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(RunLogLine)))

const toLines = ({ dropped, lines }: RunBatch, credentials: ReadonlyArray<string>, now: number) => {
  const all = [
    ...lines.map(({ level, ...line }) => ({ ...line, level: level.toLowerCase() })),
    ...(dropped === 0
      ? []
      : [{ at: now, level: "warn", message: "lines of this log dropped", fields: { lines: dropped } }])
  ]
  return decodeLines(toStorable(redactValues(JSON.stringify(all), credentials)))
}

const flush = Effect.fnUntraced(function* (buffer: RunLogBuffer) {
  const batches = buffer.take()
  if (batches.length === 0) return
  const logs = yield* RunLogs
  const credentials = listCredentials((yield* ConfigStore).current())
  const now = yield* Clock.currentTimeMillis
  yield* Effect.forEach(batches, (batch) => logs.append(batch.runId, toLines(batch, credentials, now), now), {
    discard: true
  }).pipe(
    Effect.catch((error) =>
      limitWarning("logs of runs", (suppressed) =>
        Effect.logWarning("log of runs not stored", { error: error.message, suppressed })
      )
    )
  )
})

/** Adds a logger to those of the process. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const buffer = new RunLogBuffer()
    const write = flush(buffer)
    yield* Effect.addFinalizer(() => write)
    yield* Effect.forkScoped(Effect.repeat(write, Schedule.spaced("1 second")))
    return Logger.layer([buffer.logger], { mergeWithExisting: true })
  })
)
