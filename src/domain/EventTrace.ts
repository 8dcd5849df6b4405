/**
 * The trace of an event: its ids are computed from the event's id, so that any node and any later process adds spans to it. The root is the
 * delivery; work that settles several events belongs to the trace of the first, with links to the others.
 */
import { createHash } from "node:crypto"
import { Context, Effect, Exit, Option, Tracer } from "effect"

interface TraceIds {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits: the id of the root span. */
  readonly spanId: string
}

/** Returns the ids of an event's trace: the digits of its UUID, and their second half. */
export const toTraceIds = (eventId: string): TraceIds => {
  const digits = eventId.replaceAll("-", "").toLowerCase()
  const traceId = /^[0-9a-f]{32}$/.test(digits)
    ? digits
    : createHash("sha256").update(eventId).digest("hex").slice(0, 32)
  return { traceId, spanId: traceId.slice(16) }
}

/** Ids that a tracer uses for a root span in place of random ones. */
export class RootSpanIds extends Context.Service<RootSpanIds, TraceIds>()("aicr/domain/RootSpanIds") {}

const rootOf = (eventId: string): Tracer.ExternalSpan => Tracer.externalSpan(toTraceIds(eventId))

/** Makes the spans and log lines of an effect part of the trace of these events. */
export const inEventTrace =
  (events: ReadonlyArray<string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    events[0] === undefined ? effect : Effect.provideService(effect, Tracer.ParentSpan, rootOf(events[0]))

/** Runs an effect inside a span of the trace of these events. */
export const withEventSpan =
  (name: string, events: ReadonlyArray<string>, attributes: Readonly<Record<string, unknown>> = {}) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> => {
    const [first, ...others] = events
    return Effect.withSpan(effect, name, {
      attributes,
      ...(first === undefined ? {} : { parent: rootOf(first) }),
      links: others.map((id) => ({ span: rootOf(id), attributes: {} }))
    })
  }

interface PastSpan {
  readonly eventId: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly from: number
  readonly to: number
  readonly attributes: Readonly<Record<string, unknown>>
}

/** Adds the root span of an event's trace, of a request that was handled. */
export const addRootSpan = (span: PastSpan): Effect.Effect<void> =>
  addSpan(span, {
    parent: Option.none(),
    kind: "server",
    annotations: Context.make(RootSpanIds, toTraceIds(span.eventId))
  })

/** Adds a span of a time that has passed to an event's trace. */
export const addPastSpan = (span: PastSpan): Effect.Effect<void> =>
  addSpan(span, { parent: Option.some(rootOf(span.eventId)), kind: "internal", annotations: Context.empty() })

const nanos = (millis: number): bigint => BigInt(Math.round(millis)) * 1_000_000n

const addSpan = (
  { name, from, to, attributes }: PastSpan,
  place: Pick<Parameters<Tracer.Tracer["span"]>[0], "annotations" | "kind" | "parent">
): Effect.Effect<void> =>
  Effect.map(Effect.tracer, (tracer) => {
    const span = tracer.span({ ...place, name, links: [], startTime: nanos(from), root: false, sampled: true })
    for (const [key, value] of Object.entries(attributes)) if (value !== undefined) span.attribute(key, value)
    span.end(nanos(Math.max(from, to)), Exit.void)
  })
