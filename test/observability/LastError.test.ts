/** The last error of a process: its text and its run, without what its fields may hold. */
import { assert, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { LastError } from "../../src/observability/LastError.ts"
import { renderMetrics } from "../../src/observability/MetricsText.ts"

const quiet = Logger.layer([])

it.effect("keeps the last line at the level error, and counts such lines", () =>
  Effect.gen(function* () {
    const { get } = yield* LastError
    assert.isUndefined(get())
    yield* Effect.logWarning("queue is slow", { run_id: "r0" })
    assert.isUndefined(get())
    yield* TestClock.setTime(1000)
    yield* Effect.logError("run ended", { run_id: "r1", reason: "repository team/secret" })
    assert.deepStrictEqual(get(), { at: "1970-01-01T00:00:01.000Z", message: "run ended", run_id: "r1" })
    yield* Effect.annotateLogs(Effect.logFatal(`${"x".repeat(300)}`), { run_id: "r2" })
    yield* Effect.logInfo("run started", { run_id: "r3" })
    assert.deepStrictEqual(get(), { at: "1970-01-01T00:00:01.000Z", message: "x".repeat(200), run_id: "r2" })
    yield* Effect.logError({ reason: "no text" })
    assert.deepStrictEqual(get()?.message, "error without a text")
    assert.match(renderMetrics(yield* Effect.context<never>()), /^aicr_logged_errors_total 3$/m)
  }).pipe(Effect.provide(LastError.layer), Effect.provide(quiet))
)
