/** Spans of runs that are kept: which, with which parent, attributes and end. */
import { assert, it } from "@effect/vitest"
import { Effect, Tracer } from "effect"
import { addPastSpan } from "../../../src/domain/EventTrace.ts"
import { endSpan } from "../../../src/domain/RunSpan.ts"
import type { RunSpan } from "../../../src/domain/RunSpan.ts"
import { keepSpans } from "../../../src/observability/traces/KeepSpans.ts"

const call = Effect.annotateCurrentSpan({ model: "p/m", input_tokens: 5, prompt: "not kept" }).pipe(
  Effect.withSpan("llm.call")
)

it.live("are those of the run of the fiber, with the nearest kept step above them", () =>
  Effect.gen(function* () {
    const kept: Array<readonly [run: string, span: RunSpan]> = []
    const ended: Array<string> = []
    const tracer = keepSpans(yield* Effect.tracer, {
      add: (runId, span) => void kept.push([runId, span]),
      end: (runId) => void ended.push(runId)
    })
    const pass = call.pipe(Effect.withSpan("agent.native"), Effect.withSpan("pass", { attributes: { pass: 2 } }))
    yield* Effect.gen(function* () {
      yield* Effect.annotateLogs(pass, { run_id: "one" })
      yield* call
      yield* Effect.fail("broken").pipe(
        Effect.withSpan("publication", { attributes: { run: "two", channel: "main", operation: "Status" } }),
        Effect.ignore
      )
      yield* Effect.void.pipe(Effect.withSpan("other work", { attributes: { run: "two" } }))
      yield* addPastSpan({ eventId: "e", name: "queue wait", from: 5, to: 2_000, attributes: { run: "two" } })
      yield* Effect.void.pipe(Effect.withSpan(endSpan, { attributes: { run: "two" } }))
    }).pipe(Effect.withTracer(tracer))
    assert.deepStrictEqual(
      kept.map(([run, { kind }]) => [run, kind]),
      [
        ["one", "model_call"],
        ["one", "pass"],
        ["two", "publication"],
        ["two", "queue"]
      ]
    )
    const [model, whole, publication, queue] = kept.map(([, span]) => span)
    assert.strictEqual(model?.parent, whole?.id)
    assert.include(model, { model: "p/m", input_tokens: 5 })
    assert.notProperty(model, "prompt")
    assert.include(whole, { pass: 2 })
    assert.notProperty(whole, "parent")
    assert.notProperty(whole, "failed")
    assert.include(publication, { failed: true, channel: "main", operation: "Status" })
    assert.include(queue, { at: 5, millis: 1_995 })
    assert.deepStrictEqual(ended, ["two"])
  })
)

it.live("do not change what the tracer of the process gets", () =>
  Effect.gen(function* () {
    const names: Array<string> = []
    const native = yield* Effect.tracer
    const exporting = Tracer.make({
      span: (options) => {
        const span = native.span(options)
        const end = span.end.bind(span)
        span.end = (time, exit) => {
          names.push(span.name)
          end(time, exit)
        }
        return span
      }
    })
    const tracer = keepSpans(exporting, { add: () => {}, end: () => {} })
    const work = call.pipe(Effect.withSpan("other work"), Effect.annotateLogs({ run_id: "one" }))
    yield* work.pipe(Effect.withTracer(tracer))
    assert.deepStrictEqual(names, ["llm.call", "other work"])
  })
)
