/** A tracer that passes on the spans of runs when they end, in addition to what the tracer of the process does with them. */
import { Exit, Fiber, Option, References, Schema, Tracer } from "effect"
import { endSpan, RunSpan, spanKinds } from "../../domain/RunSpan.ts"

/** Receives the spans of runs. */
interface SpanSink {
  readonly add: (runId: string, span: RunSpan) => void
  /** No span of this run follows. */
  readonly end: (runId: string) => void
}

const decode = Schema.decodeUnknownOption(RunSpan)

const millisOf = (nanos: bigint): number => Number(nanos / 1_000_000n)

/** Returns the id of the nearest span that is kept. */
const keptParent = (parent: Option.Option<Tracer.AnySpan>): string | undefined => {
  let current = Option.getOrUndefined(parent)
  while (current?._tag === "Span") {
    if (spanKinds.has(current.name)) return current.spanId
    current = Option.getOrUndefined(current.parent)
  }
  return undefined
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** Returns the run of the fiber that starts a span: that of its lines of log. */
const runOfFiber = (): string | undefined =>
  textOf(Fiber.getCurrent()?.getRef(References.CurrentLogAnnotations)["run_id"])

const toRunSpan = (span: Tracer.Span, startTime: bigint, endTime: bigint, exit: Exit.Exit<unknown, unknown>) => {
  const parent = keptParent(span.parent)
  return decode({
    ...Object.fromEntries(span.attributes),
    id: span.spanId,
    ...(parent === undefined ? {} : { parent }),
    kind: spanKinds.get(span.name),
    at: millisOf(startTime),
    millis: Math.max(0, millisOf(endTime) - millisOf(startTime)),
    ...(Exit.isSuccess(exit) ? {} : { failed: true })
  })
}

export const keepSpans = (tracer: Tracer.Tracer, sink: SpanSink): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const span = tracer.span(options)
      if (options.name !== endSpan && !spanKinds.has(options.name)) return span
      const ofFiber = runOfFiber()
      const end = span.end.bind(span)
      span.end = (endTime, exit) => {
        end(endTime, exit)
        const runId = textOf(span.attributes.get("run")) ?? ofFiber
        if (runId === undefined) return
        if (options.name === endSpan) return sink.end(runId)
        const kept = toRunSpan(span, options.startTime, endTime, exit)
        if (Option.isSome(kept)) sink.add(runId, kept.value)
      }
      return span
    },
    ...(tracer.context === undefined ? {} : { context: tracer.context })
  })
